"""What waiting, a surcharge by class, caps and a computed test do to cost and to the tests used: Turney's problems.

    WORTHWHILE_DATA=folder python benchmarks/prices.py --out docs/results/prices.md

ACT with its defaults learns from two thirds of the cases, of pima and thyroid from 400; costs are those of the other
cases, in Canadian dollars, with the prices of Turney (1995). The page shows what the settings do, not which is best.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import ROOT, provenance
from sklearn.model_selection import train_test_split

import worthwhile as ww
from worthwhile.evaluation.spending import charged_tests, spending
from worthwhile.experiments.tuning import SET_ON

SETS = {name: f"turney-{name}" for name in ("bupa", "heart", "hepatitis", "pima", "thyroid")}
MOST_CASES = 400  # to learn from
HOURS = 24.0  # until the result of a test that Turney calls delayed
RATES = (0.0, 0.1, 0.5, 2.0, 10.0)  # dollars per hour
CAPS = (None, 1 / 2, 1 / 4, 1 / 10)
AMOUNTS = (0.0, 50.0, 200.0, 1000.0)
EXERCISE = ("thalach", "exang", "oldpeak", "slope")

Row = dict[str, Any]


def waiting_lists(costs: ww.Costs) -> Iterator[tuple[str, ww.Costs]]:
    """Yield price lists in which delayed tests take a day, for several prices of an hour; then Turney's own."""
    slow = {
        name: replace(test, delayed=False, wait=HOURS if test.delayed else 0.0) for name, test in costs.tests.items()
    }
    for rate in RATES:
        yield f"{rate:g} an hour", ww.Costs(slow, costs.groups, costs.errors, waiting=rate)
    yield "delayed", costs


def risky_lists(costs: ww.Costs) -> Iterator[tuple[str, ww.Costs]]:
    """Yield price lists with an exercise that harms the sick. Its readings belong to one exercise, begun by thalach."""
    for amount in AMOUNTS:
        tests = dict(costs.tests)
        risk = [ww.Surcharge(amount, truth="sick")] if amount else []
        tests[EXERCISE[0]] = replace(tests[EXERCISE[0]], surcharges=risk)
        tests |= {name: replace(tests[name], requires=EXERCISE[:1]) for name in EXERCISE[1:]}
        yield f"{amount:g}", ww.Costs(tests, costs.groups, costs.errors)


def cells(error: float) -> Iterator[tuple[str, str, str, ww.Costs, float | None]]:
    """Yield (study, data set, setting, costs, cap)."""
    for name, source in SETS.items():
        costs = ww.datasets.load(source).costs.with_errors(error)
        for setting, own in waiting_lists(costs):
            yield "waiting", name, setting, own, None
        for share in CAPS:
            label = "none" if share is None else f"1/{round(1 / share)}"
            yield "caps", name, label, costs, None if share is None else share * costs.total_price()
    for setting, own in risky_lists(ww.datasets.load(SETS["heart"]).costs.with_errors(error)):
        yield "exercise", "heart", setting, own, None
    for setting, source in (("without FTI", SETS["thyroid"]), ("with FTI", "thyroid-fti")):
        yield "fti", source, setting, ww.datasets.load(source).costs.with_errors(error), None


def measure(study: str, name: str, setting: str, costs: ww.Costs, cap: float | None, error: float, split: int) -> Row:
    """Learn from some cases and return what the others cost."""
    data = ww.datasets.load(SETS.get(name, name), as_frame=False)
    X, X_new, y, y_new = train_test_split(data.X, data.y, test_size=1 / 3, stratify=data.y, random_state=split)
    X, y = X[:MOST_CASES], y[:MOST_CASES]
    clf = ww.ACTClassifier(
        costs=costs, cap=cap, nominal=data.nominal, columns=data.feature_names, random_state=0, cross_fit=False
    ).fit(X, y)
    prices, totals = clf.test_costs(X_new, y=y_new), clf.total_costs(X_new, y_new)
    parts = spending(clf, X_new, y=y_new)
    done = charged_tests(clf, X_new)
    nodes = clf.tree_.nodes
    return {
        "study": study, "set": name, "setting": setting, "error": error, "split": split,
        "cost": float(totals.mean()), "tests": float(prices.mean()), "most": float(prices.max()),
        "extra": sum(item.amount for item in parts.items if item.kind in ("waiting", "surcharge")),
        "number": float(done.sum(axis=1).mean()),
        "commits": int(0 if nodes.commits is None else nodes.commits.sum()),
        "used": clf.tree_.tests_used(), "exercised": float(done[:, _places(data, EXERCISE)].any(axis=1).mean()),
        "fti": float(done[:, _places(data, ("FTI",))].any(axis=1).mean()),
    }  # fmt: skip


def _places(data: Any, tests: tuple[str, ...]) -> list[int]:
    return [place for place, test in enumerate(data.feature_names) if test in tests]


def mean(rows: list[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def table(rows: list[Row], study: str, columns: dict[str, str]) -> str:
    """Return a table with a row per data set, error cost and setting; columns by key of a row."""
    lines = [f"| data set | error | setting | {' | '.join(columns)} | tests in most trees |"]
    lines += [f"|---|---:|---|{'---:|' * len(columns)}---|"]
    groups: dict[tuple[str, float, str], list[Row]] = {}
    for row in rows:
        if row["study"] == study:
            groups.setdefault((row["set"], row["error"], row["setting"]), []).append(row)
    for (name, error, setting), own in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1])):
        counts = Counter(test for row in own for test in row["used"])
        used = ", ".join(test for test, count in counts.items() if count > len(own) / 2) or "none"
        values = " | ".join(f"{mean(own, key):.2f}" for key in columns.values())
        lines.append(f"| {name.removeprefix('turney-')} | {error:g} | {setting} | {values} | {used} |")
    return "\n".join(lines)


def page(rows: list[Row], splits: int) -> str:
    """Return the results as Markdown."""

    def columns(**more: str) -> dict[str, str]:
        """Return the columns of a table; `more` are in addition, with words for blanks."""
        own = {name.replace("_", " "): key for name, key in more.items()}
        return {"cost": "cost", "tests cost": "tests", **own, "tests done": "number"}

    return f"""# Prices as they are: waiting, a risk, caps, a computed test

{provenance()}

{__doc__.split("python benchmarks/prices.py --out docs/results/prices.md")[1].strip()}

Splits per cell: {splits}, of thyroid 1. *Cost* is price and error cost per new case, *tests cost* the part that is paid for tests, waiting and surcharges included, *tests done* how many tests a new case has. A difference of a few per cent is within the noise of so few splits.

Where tuned on, where reported on:

|  | constants set on | reported here on |
|---|---|---|
| ACT | {SET_ON["ACTClassifier"]} | splits 0 to {splits - 1} of these very data sets: another division, but the same cases |

How waiting, surcharges and caps are counted has no constants.

## Waiting
Tests that Turney calls delayed take {HOURS:g} hours here, at several prices of an hour; "delayed" is Turney's rule: everything that may follow is ordered with them. *Committing nodes*: nodes of the tree that order everything below them at once.

{table(rows, "waiting", columns(of_it_waiting="extra", committing_nodes="commits"))}

## A surcharge by class
The exercise of the heart problem harms the sick: its first reading, thalach, has a surcharge for them, and the other readings require it.

{table(rows, "exercise", columns(of_it_surcharges="extra", share_of_cases_that_exercise="exercised"))}

## Caps
No case may pay more than this share of the price of all tests. *Most*: the most that a new case paid, mean of the splits.

{table(rows, "caps", columns(most="most"))}

## FTI
Turney left FTI out, because it is computed from TT4 and T4U: it costs nothing, but requires both.

{table(rows, "fti", columns(share_of_cases_with_FTI="fti"))}
"""  # noqa: E501


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--errors", type=float, nargs="+", default=[5000.0])
    parser.add_argument("--rows", type=Path, default=ROOT / "build" / "prices.jsonl", help="keeps what was measured")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [json.loads(line) for line in given.rows.read_text().splitlines()] if given.rows.exists() else []
    done = {(row["study"], row["set"], row["setting"], row["error"], row["split"]) for row in rows}
    for error in given.errors:
        for cell in cells(error):
            for split in range(1 if "thyroid" in cell[1] else given.splits):  # ACT takes long on its many tests
                if (*cell[:3], error, split) not in done:
                    rows.append(measure(*cell, error, split))
                    with given.rows.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    text = page(rows, given.splits)
    if given.out:
        given.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
