"""How fast ICET's trials are: 1000 of them against 1000 fits of scikit-learn's tree, and two threads against one.

    WORTHWHILE_DATA=folder python benchmarks/icet.py --out docs/results/icet-speed.md

On the training set of the first split of each of Turney's five problems. Ours is 1000 trials of the paper's ICET, 50 in
a call: trees grown on random halves, pruned, and priced on the other halves; and, beside that, a whole fit, with the
genetic search and the final tree. Theirs is 1000 fits of `DecisionTreeClassifier` on random halves, nothing
else; nominal values are codes there, which is faster than one column per value. Repeats are interleaved and the minimum
counts, because other processes only make a run slower.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from common import least, plain, provenance
from sklearn.tree import DecisionTreeClassifier

import worthwhile as ww
from worthwhile.experiments.turney_cells import PROBLEMS, parts
from worthwhile.learners.icet.biases import RealSpace
from worthwhile.learners.icet.classifier import _list_prices
from worthwhile.learners.icet.trials import Halves
from worthwhile.learners.soft_labels import SoftLabels
from worthwhile.table.columns import read_columns

TRIALS, POPULATION = 1000, 50
MORE_REPEATS = 5


def compare(name: str, repeats: int) -> dict[str, float]:
    problem = ww.datasets.load(f"turney-{name}", as_frame=False)
    train, _ = parts(len(problem.y), 0)
    X, y = problem.X[train], problem.y[train]
    numbers, classes = plain(X), np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    halves = [rng.permutation(len(y))[: len(y) // 2] for _ in range(TRIALS)]

    icet = ww.ICETClassifier(
        variant="paper",
        costs=problem.costs,
        nominal=problem.nominal,
        columns=problem.feature_names,
        trials=TRIALS,
        random_state=0,
    )
    training = icet._prepare(read_columns(X, problem.feature_names), y, None)
    labels, space = SoftLabels.own(training), RealSpace(_list_prices(training))
    generations = [
        space.decode(rng.integers(0, 2, (POPULATION, space.length), dtype=np.uint8))
        for _ in range(TRIALS // POPULATION)
    ]

    def trials(n_jobs: int) -> None:
        tried = Halves(training, icet._policy(labels), n_jobs, np.random.default_rng(0))
        for biases in generations:
            tried.costs(biases, math.inf)

    def theirs() -> None:
        for half in halves:
            DecisionTreeClassifier(random_state=0).fit(numbers[half], classes[half])

    threads = {"one": lambda: trials(1), "two": lambda: trials(2)}
    times = least(threads | {"theirs": theirs, "fit": lambda: icet.fit(X, y)}, repeats)
    # Our trials take some hundredths of a second, when the second core may be busy: they are repeated more often.
    again = least(threads, MORE_REPEATS * repeats)
    times |= {name: min(times[name], seconds) for name, seconds in again.items()}
    return times | {"cases": len(y), "tests": X.shape[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file for the table; otherwise it is printed")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    lines = [
        "# The speed of ICET's trials",
        "",
        provenance(),
        "",
        f"{TRIALS} trials of the paper's ICET against {TRIALS} fits of scikit-learn's"
        " `DecisionTreeClassifier` on random halves of the same training set, one thread each; and two threads"
        f" against one. Minimum of {options.repeats} interleaved repeats. Target: at most 0.25, and at least 1.7.",
        "",
        "| data | cases × tests | trials / scikit-learn | whole fit / scikit-learn | trials, two threads: speed-up |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in PROBLEMS:
        r = compare(name, options.repeats)
        ratio, fit, faster = r["one"] / r["theirs"], r["fit"] / r["theirs"], r["one"] / r["two"]
        lines.append(f"| {name} | {r['cases']:.0f} × {r['tests']:.0f} | {ratio:.2f} | {fit:.2f} | {faster:.2f} |")
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
