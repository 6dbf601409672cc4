"""Cost of the interruptible ACT against its time limit, on eight problems.

    WORTHWHILE_DATA=folder python benchmarks/anytime.py --out docs/results/act-anytime.md

Every problem uses folds of a ten-fold cross-validation, error cost 5000, first price list. One fit with the longest
time limit shows what every shorter one would return: whenever a better tree is found, it is measured on the held-out
fold. EG2, DTMC, ICET (as published, and refined) and ACT with fixed r = 5 (as published) are points of reference. The
aim: at ICET's full running time, cost at or below ICET's on at least seven of the eight problems.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from common import provenance

import worthwhile as ww
from worthwhile.experiments.esmeir_cells import FOLDS, cases_of, folds_of, prices_of
from worthwhile.experiments.page import mean_interval

PROBLEMS = ("breast-cancer", "monks-1", "multi-xor", "xor-5", "tic-tac-toe", "wine", "pima", "car")
FOLDER = os.environ.get("WORTHWHILE_DATA")
ERRORS = 5000.0
EARLY = 0.3  # seconds; more time should not make trees worse on new cases than they are then
TIMES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)
OTHERS = {
    "EG2": lambda **known: ww.EG2Classifier(prune="cost", answer="least-cost", **known),
    "DTMC": ww.DTMCClassifier,
    "ICET": lambda **known: ww.ICETClassifier(variant="paper", **known),
    "ICET, refined": ww.ICETClassifier,
    "ACT, r = 5": lambda **known: ww.ACTClassifier(variant="paper", **known),
}


class _Watched(ww.ACTClassifier):
    """Keeps every tree that is the best so far."""

    def _learn(self, training: Any) -> None:
        self.found_: list[tuple[float, Any]] = []
        super()._learn(training)
        self.trees_ = [
            (seconds, ww.Tree.from_core(core, training.context, "least-cost")) for seconds, core in self.found_
        ]

    def _note(self, found: Any, deadline: Any) -> None:
        super()._note(found, deadline)
        self.found_.append((deadline.elapsed(), found.core))


def learn(name: str, fold: int, limit: float) -> dict[str, Any]:
    """Return, for one fold, (seconds, cost) of the trees that ACT found, and of every other learner."""
    cases = cases_of(name, FOLDER)
    costs = prices_of(name, "informative-0", FOLDER).with_errors(ERRORS)
    test = folds_of(name, 0, FOLDER) == fold
    known: dict[str, Any] = {"costs": costs, "nominal": cases.nominal, "columns": cases.columns, "random_state": fold}
    X, y, standard = cases.X[test], cases.y[test], costs.standard_cost(cases.y)

    def cost_of(learner: Any) -> float:
        return 100 * float(learner.total_costs(X, y).mean()) / standard

    result: dict[str, Any] = {}
    for label, make in OTHERS.items():
        learner = make(**known)
        start = time.perf_counter()
        learner.fit(cases.X[~test], cases.y[~test])
        result[label] = time.perf_counter() - start, cost_of(learner)
    act = _Watched(time_limit=limit, **known).fit(cases.X[~test], cases.y[~test])
    return result | {"curve": [(seconds, cost_of(tree)) for seconds, tree in act.trees_]}


def at(curve: list[tuple[float, float]], seconds: float) -> float:
    """Return the cost of the best tree after this many seconds; of the first tree, if there is none yet."""
    return [cost for when, cost in curve if when <= seconds or when == curve[0][0]][-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file for the table; the picture is written beside it")
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=PROBLEMS)
    parser.add_argument("--folds", type=int, default=4, help=f"number of folds to run, of {FOLDS}")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=TIMES[-1], help="longest time limit in seconds")
    options = parser.parse_args()
    work = [(name, fold) for name in options.problems for fold in range(options.folds)]
    found = dict(
        zip(
            work,
            joblib.Parallel(n_jobs=options.jobs)(joblib.delayed(learn)(*cell, options.limit) for cell in work),
            strict=True,
        )
    )
    times = [t for t in TIMES if t <= options.limit]
    lines = [
        "# Cost of ACT against training time",
        "",
        provenance(),
        "",
        f"Cost per case on held-out cases, in percent of the standard cost; error cost {ERRORS:g},"
        f" first price list, mean of {options.folds} folds of ten. Target: the cost at ICET's running time at or below"
        f" that of ICET as published. Last against {EARLY:g} s: mean difference, 95 % interval over folds.",
        "",
        "| problem | "
        + " | ".join(f"{t:g} s" for t in times)
        + " | "
        + " | ".join(OTHERS)
        + f" | ICET's seconds | ACT then | target met | last against {EARLY:g} s |",
        "|---|" + "---:|" * (len(times) + len(OTHERS) + 2) + "---|---:|",
    ]
    curves = {}
    for name in options.problems:
        cells = [found[name, fold] for fold in range(options.folds)]
        curves[name] = [float(np.mean([at(cell["curve"], t) for cell in cells])) for t in times]
        others = {label: np.mean([cell[label] for cell in cells], axis=0) for label in OTHERS}
        then = float(np.mean([at(cell["curve"], cell["ICET"][0]) for cell in cells]))
        later = mean_interval([at(cell["curve"], times[-1]) - at(cell["curve"], EARLY) for cell in cells])
        numbers = [*curves[name], *(other[1] for other in others.values())]
        lines.append(
            f"| {name} | "
            + " | ".join(f"{number:.1f}" for number in numbers)
            + f" | {others['ICET'][0]:.2f} | {then:.1f} | {'yes' if then <= others['ICET'][1] + 1e-9 else 'no'} |"
            f" {later.mean:+.1f} ± {later.interval:.1f} |"
        )
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out:
        draw(curves, times, found, options.folds, options.out.with_suffix(".png"))
        options.out.write_text(f"{text}\n![cost against time]({options.out.stem}.png)\n", encoding="utf-8")


def draw(curves: Any, times: list[float], found: Any, folds: int, path: Path) -> None:
    """Draw a panel per problem: the curve of ACT, and the others as points at their running time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6), layout="constrained")
    for axes, name in zip(figure.subplots(2, 4).flat, curves, strict=False):
        axes.plot(times, curves[name], marker="o", label="ACT, interruptible")
        for label in OTHERS:
            seconds, cost = np.mean([found[name, fold][label] for fold in range(folds)], axis=0)
            axes.plot([seconds], [cost], marker="s", linestyle="", label=label)
        axes.set(title=name, xscale="log", xlabel="seconds", ylabel="% of standard cost")
        axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
