"""How fast ICET's trials are: 1000 of them against 1000 fits of scikit-learn's tree, and two threads against one.

    WORTHWHILE_DATA=folder python benchmarks/icet.py --out docs/results/icet-speed.md

On the training set of the first split of each of Turney's five problems. Ours is a whole fit of the paper's ICET: 1000
trees grown on random halves, pruned, and priced on the other halves, the genetic search, and the tree of the winner.
Theirs is 1000 fits of `DecisionTreeClassifier` on random halves, nothing else; nominal values are their codes there,
which is faster for it than a column per value. Repeats are interleaved and the minimum counts, because others on a
machine only make a run slower.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import provenance
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from worthwhile.experiments._turney_cells import PROBLEMS, parts

TRIALS = 1000


def plain(X: np.ndarray) -> np.ndarray:
    """Return the table as numbers: nominal values by their codes."""
    columns = []
    for column in X.T:
        try:
            columns.append(column.astype(float))
        except ValueError:
            columns.append(np.unique(column.astype(str), return_inverse=True)[1].astype(float))
    return np.ascontiguousarray(np.column_stack(columns))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name: str, repeats: int) -> dict[str, float]:
    problem = ww.datasets.load(f"turney-{name}", as_frame=False)
    train, _ = parts(len(problem.y), 0)
    X, y = problem.X[train], problem.y[train]
    numbers, classes = plain(X), np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    halves = [rng.permutation(len(y))[: len(y) // 2] for _ in range(TRIALS)]

    def ours(n_jobs: int) -> None:
        ww.ICETClassifier(
            variant="paper",
            costs=problem.costs,
            nominal=problem.nominal,
            columns=problem.feature_names,
            trials=TRIALS,
            random_state=0,
            n_jobs=n_jobs,
        ).fit(X, y)

    def theirs() -> None:
        for half in halves:
            DecisionTreeClassifier(random_state=0).fit(numbers[half], classes[half])

    best = {"theirs": math.inf, "one": math.inf, "two": math.inf}
    for _ in range(repeats):
        best["theirs"] = min(best["theirs"], seconds(theirs))
        best["one"] = min(best["one"], seconds(lambda: ours(1)))
        best["two"] = min(best["two"], seconds(lambda: ours(2)))
    return best | {"cases": len(y), "tests": X.shape[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="where to write the table; otherwise it is printed")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    lines = [
        "# The speed of ICET's trials",
        "",
        provenance(),
        "",
        f"{TRIALS} trials (a whole `fit` of the paper's ICET) against {TRIALS} fits of scikit-learn's"
        " `DecisionTreeClassifier` on random halves of the same training set, one thread each; and two threads"
        f" against one. The least of {options.repeats} interleaved repeats. Wanted: at most 0.25, and at least 1.7.",
        "",
        "| data | cases × tests | ours / scikit-learn | two threads, times as fast |",
        "|---|---:|---:|---:|",
    ]
    for name in PROBLEMS:
        r = compare(name, options.repeats)
        ratio, faster = r["one"] / r["theirs"], r["one"] / r["two"]
        lines.append(f"| {name} | {r['cases']:.0f} × {r['tests']:.0f} | {ratio:.2f} | {faster:.2f} |")
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
