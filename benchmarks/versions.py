"""Two versions of worthwhile against each other: how long the same work takes, and how many lines each has.

    python benchmarks/versions.py --before OLD/.venv/bin/python --after .venv/bin/python --commits OLD NEW --out FILE

Each interpreter has one version installed. Both do the same work by the public names, by turns, and the minimum of the
processor time of the repeats counts, because others on a machine only make a run slower. BLAS has one thread: how long
its threads wait for each other depends on the machine. The cases are those of speed.py, icet.py, act.py and
forest.py in small. Draws of ICET and of forests may differ between versions: their times then compare other trees.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from common import ROOT, provenance

# What is timed; each version runs it in a process of its own.
WORK = {
    "fit C4.5, 500 × 8": ("ww.C45Classifier(prune='none').fit(small, small_y)", 30),
    "fit C4.5, 500 × 8, cross_fit=False": ("ww.C45Classifier(prune='none', cross_fit=False).fit(small, small_y)", 100),
    "fit C4.5, large": ("ww.C45Classifier(prune='none').fit(large, large_y)", 1),
    "predict one case": ("tree.predict(small[:1])", 2000),
    "predict 500 cases": ("tree.predict(small)", 300),
    "fit C4.5, large, cross_fit=False": ("ww.C45Classifier(prune='none', cross_fit=False).fit(large, large_y)", 1),
    "total costs, large": ("large_tree.total_costs(large, large_y)", 2),
    "fit EG2, heart": ("ww.EG2Classifier(**known).fit(*heart)", 20),
    "fit EG2, heart, cross_fit=False": ("ww.EG2Classifier(cross_fit=False, **known).fit(*heart)", 50),
    "fit ICET as published, heart": ("ww.ICETClassifier(variant='paper', trials=300, **known).fit(*heart)", 1),
    "fit ICET, heart": ("ww.ICETClassifier(trials=300, **known).fit(*heart)", 1),
    "fit ICET, heart, cross_fit=False": ("ww.ICETClassifier(trials=300, cross_fit=False, **known).fit(*heart)", 1),
    "fit ACT as published, heart": ("ww.ACTClassifier(variant='paper', **known).fit(*heart)", 1),
    "fit ACT, heart": ("ww.ACTClassifier(**known).fit(*heart)", 1),
    "fit a forest of 20 trees, at most 20,000 × 20": ("new_forest.fit(*some)", 1),
    "predict by that forest, large": ("forest.predict(large)", 1),
    "prices by that forest, large": ("forest.test_costs(large)", 1),
    "next test of one case": ("tree.next_test({'x0': 1.0})", 300),
}

PREPARE = """
import json, sys, time
import numpy as np
import worthwhile as ww
rng = np.random.default_rng(0)
small = rng.normal(size=(500, 8))
small_y = (small[:, 0] + rng.normal(size=500) > 0).astype(int)
large = rng.normal(size=(int(sys.argv[1]), 20))
large_y = (large[:, 0] * large[:, 1] + 0.5 * rng.normal(size=len(large)) > 0).astype(int)
some = large[:20_000], large_y[:20_000]
data = ww.datasets.load("heart", as_frame=False)
heart = data.X, data.y
known = {"costs": data.costs, "nominal": data.nominal, "columns": data.feature_names, "random_state": 0}
costs = ww.Costs(tests={"x0": 1.0}, errors=9)
tree = ww.C45Classifier(costs=costs).fit(small, small_y)
large_tree = ww.C45Classifier(costs=costs).fit(large, large_y)
new_forest = ww.BudgetForestClassifier(max_trees=20, sampling="drawn", random_state=0)
forest = ww.BudgetForestClassifier(max_trees=20, sampling="drawn", random_state=0).fit(*some)
for line in sys.stdin:
    code, times = json.loads(line)
    work = eval(f"lambda: {code}")  # the benchmark's own text
    start = time.process_time()
    for _ in range(times):
        work()
    print(json.dumps((time.process_time() - start) / times), flush=True)
"""
FOLDERS = {
    "src": ("src/", (".py", ".pyi", ".js", ".css", ".html", ".svg")),
    "core": ("core/", (".cpp", ".hpp")),
    "tests": ("tests/", (".py", ".js")),
}


def start(python: Path, cases: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [python, "-c", PREPARE, str(cases)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd="/",
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )


def timed(process: subprocess.Popen[str], code: str, times: int) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps((code, times)) + "\n")
    process.stdin.flush()
    return float(json.loads(process.stdout.readline()))


def compare(before: Path, after: Path, repeats: int, cases: int, words: str) -> list[tuple[str, float, float]]:
    """Return the least seconds of each piece of work, by both versions."""
    processes = [start(before, cases), start(after, cases)]
    chosen = {name: work for name, work in WORK.items() if words in name}
    best = {name: [math.inf, math.inf] for name in chosen}
    for _ in range(repeats):
        for name, (code, times) in chosen.items():
            for version, process in enumerate(processes):
                best[name][version] = min(best[name][version], timed(process, code, times))
    for process in processes:
        process.communicate()
    return [(name, *two) for name, two in best.items()]


def lines(commit: str) -> dict[str, int]:
    """Return the lines of code at a commit, by folder; data and blank lines at the end do not count."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=True, cwd=ROOT).stdout

    files = git("ls-tree", "-r", "--name-only", commit).splitlines()
    found = {}
    for name, (folder, suffixes) in FOLDERS.items():
        own = [file for file in files if file.startswith(folder) and file.endswith(suffixes)]
        found[name] = sum(git("show", f"{commit}:{file}").count("\n") for file in own)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="Python with the older version installed")
    parser.add_argument("--after", type=Path, default=Path(sys.executable), help="Python with the newer version")
    parser.add_argument("--commits", nargs=2, metavar=("OLD", "NEW"), help="count the lines at these commits")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--cases", type=int, default=100_000, help="cases of the large table")
    parser.add_argument("--only", default="", metavar="WORDS", help="only the work with these words in its name")
    parser.add_argument("--out", type=Path, help="Markdown file to write; default: standard output")
    options = parser.parse_args()
    rows = compare(options.before.absolute(), options.after.absolute(), options.repeats, options.cases, options.only)
    page = [
        "# Before and after",
        "",
        f"Processor seconds of the same work by two versions, by turns, least of the repeats; {options.cases:,} cases.",
        "",
    ]
    page += ["| work | before | after | after / before |", "|---|---:|---:|---:|"]
    page += [f"| {name} | {old:.3g} | {new:.3g} | {new / old:.2f} |" for name, old, new in rows]
    if options.commits:
        old, new = map(lines, options.commits)
        page += ["", "Lines of code:", "", "| folder | before | after |", "|---|---:|---:|"]
        page += [f"| {name} | {old[name]:,} | {new[name]:,} |" for name in FOLDERS]
    text = "\n".join([*page, "", provenance(), ""])
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
