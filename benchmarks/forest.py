"""How fast forests under a budget are grown and used, compared with scikit-learn's random forest; and their memory.

    WORTHWHILE_DATA=folder python benchmarks/forest.py --out docs/results/forest-speed.md

Forest covertype, split at random as in Nan, Wang & Saligrama (2015): 36,603 training, 15,688 validation (part of our
time) and 58,101 test cases. Both libraries grow 40 trees, `BudgetForestClassifier` without a budget, with the same
number of threads. Repeats are interleaved and the minimum counts, because other processes only make a run slower.
Memory is that of a separate process that reads and trains on all 581,012 cases.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import least, provenance
from sklearn.ensemble import RandomForestClassifier

import worthwhile as ww
from worthwhile.experiments.nan_data import cases_of

SIZES = (36_603, 15_688, 58_101)  # training, validation, test
TREES = 40
# alpha (cases of a class that leaves may get wrong: the paper's smallest and largest, and one between) and sampling.
SETTINGS = ((0, "drawn"), (8, "drawn"), (45, "drawn"), (0, "weighted"))
FOLDER = os.environ.get("WORTHWHILE_DATA")


def split_covtype() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the three parts of covertype, classes as numbers."""
    cases = cases_of("covtype", FOLDER)
    order = np.random.default_rng(0).permutation(len(cases.y))[: sum(SIZES)]
    classes = np.unique(cases.y, return_inverse=True)[1]
    return [(cases.X[rows], classes[rows]) for rows in np.split(order, np.cumsum(SIZES)[:-1])]


def speed(repeats: int, n_jobs: int) -> list[str]:
    train, validation, test = split_covtype()
    theirs = RandomForestClassifier(TREES, random_state=0, n_jobs=n_jobs)
    known = {"max_trees": TREES, "validation": validation, "random_state": 0, "n_jobs": n_jobs}
    ours = {setting: ww.BudgetForestClassifier(alpha=setting[0], sampling=setting[1], **known) for setting in SETTINGS}
    fits = least(
        {"theirs": lambda: theirs.fit(*train)} | {w: bound(clf.fit, *train) for w, clf in ours.items()}, repeats
    )
    work: dict[Any, Any] = {"theirs": lambda: theirs.predict(test[0])}
    for setting, clf in ours.items():
        work |= {("answers", setting): bound(clf.predict, test[0]), ("prices", setting): bound(clf.test_costs, test[0])}
    uses = least(work, 3 * repeats)
    lines = [
        "## Growing and pricing",
        "",
        f"{TREES} trees from {SIZES[0]:,} cases × {train[0].shape[1]} tests, {n_jobs} threads; answers and prices of"
        f" {SIZES[2]:,} cases. Ratios are times divided by those of scikit-learn's `fit` and `predict`. Target: 0.5 for"
        " growing, below 1 for prices.",
        "",
        "| learner | growing, s | ratio | answers, s | ratio | prices, s | ratio | error |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        f"| scikit-learn's forest | {fits['theirs']:.2f} | 1 | {uses['theirs']:.2f} | 1 | – | –"
        f" | {1 - theirs.score(*test):.4f} |",
    ]
    for setting, clf in ours.items():
        times = fits[setting], uses["answers", setting], uses["prices", setting]
        rivals = fits["theirs"], uses["theirs"], uses["theirs"]
        cells = " | ".join(f"{own:.2f} | {own / other:.2f}" for own, other in zip(times, rivals, strict=True))
        lines.append(f"| BudgetForest, α = {setting[0]}, {setting[1]} | {cells} | {1 - clf.score(*test):.4f} |")
    return lines


def bound(function: Any, *arguments: Any) -> Any:
    return lambda: function(*arguments)


def learn_all(n_jobs: int) -> dict[str, float]:
    """Train on all cases in this process; return its peak memory in MB before and after."""
    cases = cases_of("covtype", FOLDER)
    classes = np.unique(cases.y, return_inverse=True)[1]
    before, start = peak(), time.perf_counter()
    clf = ww.BudgetForestClassifier(max_trees=TREES, random_state=0, n_jobs=n_jobs).fit(cases.X, classes)
    seconds = time.perf_counter() - start
    return {"cases": len(classes), "before": before, "after": peak(), "seconds": seconds, "error": clf.record_.error}


def peak() -> float:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def memory(n_jobs: int) -> list[str]:
    call = [sys.executable, __file__, "--learn-all", "--jobs", str(n_jobs)]
    found = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
    return [
        "",
        "## Memory",
        "",
        f"{TREES} trees (α = 0) from all {found['cases']:,} cases × 54 tests, three tenths of them validation cases,"
        f" on {n_jobs} threads in {found['seconds']:.0f} s: the process takes {found['after'] / 1024:.2f} GB at most,"
        f" and has taken {found['before'] / 1024:.2f} GB when the data are read. Target: within 4 GB. Error of the"
        f" judging cases: {found['error']:.4f}.",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="output file; otherwise the results are printed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of threads of both libraries")
    parser.add_argument("--skip-memory", action="store_true", help="skip training on all cases")
    parser.add_argument("--learn-all", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn_all:
        print(json.dumps(learn_all(options.jobs)))
        return
    lines = ["# The speed of forests", "", provenance(), "", f"Minimum of {options.repeats} interleaved repeats.", ""]
    lines += speed(options.repeats, options.jobs)
    if not options.skip_memory:
        lines += memory(options.jobs)
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
