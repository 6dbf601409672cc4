"""Which learner costs least, at cheap and at expensive errors? Learners and simple rivals on the same splits.

    WORTHWHILE_DATA=folder python benchmarks/default.py --learners cascade,dtmc --sets satimage,vote

Of each data set, at most 3,000 cases are used, 60 % of them to learn. Prices are drawn (`datasets.random_costs`); an
error costs 0.5, 5 or 50 times the price of all tests. Figures are costs per new case in percent of the standard cost
(Turney's equation 6), means over splits. Every fit is a line of a file, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import ROOT, provenance

RATIOS = (0.5, 5.0, 50.0)
MOST_CASES = 3_000
TUNED = ("pima", "heart", "waveform40", "vote", "car")  # settings of the cascade were chosen on these
SHOWN = ("satimage", "letter", "optdigits", "adult", "credit_default_taiwan", "mushroom", "dna_statlog")
NO_TEST, ALL_TESTS = "no test", "all tests + forest"


def learners() -> dict[str, Callable[..., Any]]:
    """Return the learners that may be compared, by name."""
    import worthwhile as ww

    return {
        "cascade": ww.CascadeClassifier,
        "cascade-boosting": lambda **known: ww.CascadeClassifier(base="boosting", **known),
        "cascade-chosen": lambda **known: ww.CascadeClassifier(base="chosen", **known),
        "dtmc": ww.DTMCClassifier,
        "act": ww.ACTClassifier,
        "icet": ww.ICETClassifier,
        "optimal": ww.OptimalClassifier,
        "budget-forest": lambda **known: ww.BudgetForestClassifier(adaptive=True, tests="chosen", **known),
    }


def cells(name: str, split: int) -> Iterator[tuple[float, Any, dict[str, Any], tuple[Any, ...]]]:
    """Yield the ratio, the costs, what learners must be told, and the cases of every error cost."""
    from sklearn.model_selection import train_test_split

    import worthwhile as ww

    data = ww.datasets.load(name, as_frame=False)
    rows = np.random.default_rng(split).permutation(len(data.y))[:MOST_CASES]
    y = np.asarray(data.y)[rows]
    counts = {label: int((y == label).sum()) for label in np.unique(y)}
    rows, y = rows[[counts[label] > 4 for label in y]], y[[counts[label] > 4 for label in y]]
    cases = train_test_split(data.X[rows], y, test_size=0.4, stratify=y, random_state=split)
    known = {"nominal": data.nominal, "columns": data.feature_names}
    prices = ww.datasets.random_costs(cases[0], cases[2], random_state=split, **known)
    for ratio in RATIOS:
        yield ratio, prices.with_errors(ratio * prices.total_price()), known, tuple(cases)


def rivals(costs: Any, known: dict[str, Any], cases: tuple[Any, ...]) -> dict[str, float]:
    """Return what no test, and scikit-learn's forest on all tests, cost per new case."""
    from sklearn.ensemble import RandomForestClassifier

    from worthwhile.learners.soft_labels import features_of
    from worthwhile.table.columns import read_columns
    from worthwhile.table.schema import Schema

    X, X_new, y, y_new = cases
    labels, counts = np.unique(y, return_counts=True)
    columns, new = (read_columns(part, known["columns"], known["nominal"]) for part in (X, X_new))
    schema = Schema.learn(columns, known["nominal"])
    forest = RandomForestClassifier(200, random_state=0).fit(features_of(schema, columns), y)
    error = float(costs.errors)
    return {
        NO_TEST: error * float((y_new != labels[counts.argmax()]).mean()),
        ALL_TESTS: costs.total_price() + error * float((forest.predict(features_of(schema, new)) != y_new).mean()),
    }


def measure(name: str, split: int, chosen: list[str], done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """Yield a row per learner and error cost of one split."""
    made = learners()
    for ratio, costs, known, cases in cells(name, split):
        X, X_new, y, y_new = cases
        whole = costs.standard_cost(y)
        row = {"set": name, "split": split, "ratio": ratio}
        if (name, split, ratio, NO_TEST) not in done:
            for rival, cost in rivals(costs, known, cases).items():
                yield row | {"learner": rival, "cost": 100 * cost / whole}
        for learner in chosen:
            if (name, split, ratio, learner) in done:
                continue
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                clf = made[learner](costs=costs, random_state=split, n_jobs=2, **known).fit(X, y)
            seconds = time.perf_counter() - start
            yield row | {
                "learner": learner,
                "cost": 100 * float(clf.total_costs(X_new, y_new).mean()) / whole,
                "expected": 100 * clf.expected_cost_ / whole,
                "seconds": round(seconds, 2),
            }


def page(rows: list[dict[str, Any]]) -> str:
    """Return the results as Markdown."""
    names = list(dict.fromkeys(row["learner"] for row in rows))
    sets = list(dict.fromkeys(row["set"] for row in rows))
    lines = ["# Which learner costs least", "", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    lines += [f"Settings of the cascade were chosen on {', '.join(TUNED)}; all other sets are reported only.", ""]
    lines += [f"| data | errors | {' | '.join(names)} |", f"|---|---|{'---|' * len(names)}"]
    table: dict[str, list[float]] = {name: [] for name in names}
    for data in sets:
        for ratio in RATIOS:
            cell = {
                name: [r["cost"] for r in rows if (r["set"], r["ratio"], r["learner"]) == (data, ratio, name)]
                for name in names
            }
            if not all(cell.values()):
                continue
            means = {name: float(np.mean(costs)) for name, costs in cell.items()}
            least = min(means.values())
            shown = [f"**{m:.1f}**" if m <= least * 1.0001 else f"{m:.1f}" for m in means.values()]
            lines.append(f"| {data} | {ratio:g} | {' | '.join(shown)} |")
            if data not in TUNED:
                for name in names:
                    table[name].append(means[name])
    if table[names[0]]:
        geometric = [f"{np.exp(np.log(costs).mean()):.1f}" for costs in table.values()]
        lines.append(f"| geometric mean of the sets reported only | | {' | '.join(geometric)} |")
    seconds = {n: [r["seconds"] for r in rows if r["learner"] == n and "seconds" in r] for n in names}
    slowest = ", ".join(f"{name} {np.median(s):.1f} ({max(s):.1f})" for name, s in seconds.items() if s)
    lines += ["", f"Median and longest time of a fit in seconds: {slowest}.", "", provenance()]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sets", default=",".join(SHOWN))
    parser.add_argument("--learners", default="dtmc,cascade")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--rows", type=Path, default=ROOT / "build" / "default.jsonl", help="the results so far")
    parser.add_argument("--page", type=Path, default=None, help="write the results as Markdown")
    options = parser.parse_args()
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in options.rows.read_text().splitlines()] if options.rows.exists() else []
    done = {(row["set"], row["split"], row["ratio"], row["learner"]) for row in known}
    for split in range(options.splits):
        for name in filter(None, options.sets.split(",")):
            for row in measure(name, split, options.learners.split(","), done):
                known.append(row)
                with options.rows.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)
    if options.page is not None:
        options.page.write_text(page(known))


if __name__ == "__main__":
    main()
