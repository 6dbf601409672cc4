"""Advice for long worklists: seconds for 100,000 cases, against asking about one case at a time.

    python benchmarks/worklist.py --page docs/results/worklist.md

`advise` tells for every case which tests to order next, or the answer. The cases are those of a bundled data set,
repeated; a share of their cells, drawn at random, has not been asked for, and one in twenty of these is unavailable.
Random cells are the hard way: in a real worklist, many cases stand at the same place. Seconds are processor time of one
thread, the minimum of some runs; *one by one* is the time of `next_test` for 300 of the cases, multiplied.

A *cap* is half of what all tests cost. With *surcharges and waits*, every test costs half as much again for cases of
the first class, the delayed results take a day and the others an hour, and an hour costs 0.02.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import provenance

SETS = ("heart", "pima")
SHARES = (0.1, 0.5)
N_ALONE = 300


def learners(costs: Any, first_class: Any) -> dict[str, Any]:
    """Return the learners to measure, by name."""
    import worthwhile as ww

    cap, extras = costs.total_price() / 2, with_extras(costs, first_class)
    return {
        "C4.5, not pruned": ww.C45Classifier(costs=costs, prune="none"),
        "C4.5, not pruned, cap": ww.C45Classifier(costs=costs, prune="none", cap=cap),
        "C4.5, not pruned, surcharges and waits": ww.C45Classifier(costs=extras, prune="none"),
        "ACT": ww.ACTClassifier(costs=costs, cross_fit=False),
        "ACT, cap": ww.ACTClassifier(costs=costs, cap=cap, cross_fit=False),
        "ACT, surcharges and waits": ww.ACTClassifier(costs=extras, cross_fit=False),
        "forest": ww.BudgetForestClassifier(costs=costs),
        "forest, cap": ww.BudgetForestClassifier(costs=costs, cap=cap),
        "forest, surcharges and waits": ww.BudgetForestClassifier(costs=extras),
        "cascade": ww.CascadeClassifier(costs=costs),
        "cascade, cap": ww.CascadeClassifier(costs=costs, cap=cap),
        "cascade, surcharges and waits": ww.CascadeClassifier(costs=extras),
    }


def with_extras(costs: Any, first_class: Any) -> Any:
    """Return a price list with surcharges and a price of waiting."""
    import worthwhile as ww

    tests = {
        name: dataclasses.replace(
            test,
            delayed=False,
            wait=24.0 if test.delayed else 1.0,
            surcharges=(ww.Surcharge(test.price / 2, truth=first_class),),
        )
        for name, test in costs.tests.items()
    }
    return ww.Costs(tests=tests, groups=costs.groups, errors=costs.errors, waiting=0.02)


def measure(model: Any, X: Any, unavailable: Any, runs: int) -> tuple[float, float]:
    """Return the seconds of a worklist, and those of asking about its cases one by one."""
    together = []
    for _ in range(runs):
        start = time.process_time()
        model.advise(X, unavailable=unavailable)
        together.append(time.process_time() - start)
    rows = X.head(N_ALONE).astype(object).where(X.notna(), None).to_dict("records")
    absent = unavailable.head(N_ALONE).to_dict("records")
    alone = [
        {name: value for name, value in case.items() if value is not None or marks[name]}
        for case, marks in zip(rows, absent, strict=True)
    ]
    start = time.process_time()
    for case in alone:
        model.next_test(case)
    return min(together), (time.process_time() - start) * len(X) / len(alone)


def worklist(data: Any, n_cases: int, share: float, seed: int) -> tuple[Any, Any]:
    """Return cases with a share of their cells not known, and which of these are unavailable."""
    rng = np.random.default_rng(seed)
    X = data.X.iloc[rng.integers(len(data.X), size=n_cases)].reset_index(drop=True).astype(object)
    hidden = rng.random(X.shape) < share
    unavailable = hidden & (rng.random(X.shape) < 0.05)
    return X.mask(hidden, np.nan), type(X)(unavailable, columns=X.columns)


def main() -> None:
    import worthwhile as ww

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3, help="runs of every worklist")
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--page", type=Path, default=None, help="write the results as Markdown")
    options = parser.parse_args()
    lines = [
        "# Advice for long worklists",
        "",
        (__doc__ or "").split("\n\n", 2)[2].strip(),
        "",
        f"| data, learner, share of cells not known | seconds for {options.cases:,} cases | one by one | ratio |",
        "|---|---:|---:|---:|",
    ]
    for name in options.sets:
        data = ww.datasets.load(name)
        for title, learner in learners(data.costs, min(data.y)).items():
            model = learner.set_params(nominal=data.nominal, random_state=0).fit(data.X, data.y)
            for share in SHARES:
                together, alone = measure(model, *worklist(data, options.cases, share, 0), options.runs)
                row = f"{name}, {title}, {share:.0%}", f"{together:.1f}", f"{alone:.0f}", f"{together / alone:.3f}"
                lines.append(f"| {' | '.join(row)} |")
                print(lines[-1], flush=True)
    lines += ["", "Nothing was tuned on these cases; the learners have their default settings.", "", provenance()]
    if options.page is not None:
        options.page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
