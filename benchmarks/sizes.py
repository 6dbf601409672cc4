"""Does a tree get cheaper with more cases? ACT with its defaults, from 4,000 to 20,000 cases of a large data set.

    WORTHWHILE_DATA=folder python benchmarks/sizes.py --before OLD/.venv/bin/python

Prices are drawn, an error costs five times as much as all tests together. Costs are those of 8,000 cases that take no
part in learning. Each size contains the cases of the smaller ones. Writes docs/results/sizes.md and a picture.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

from common import ROOT, provenance, rows_by

SETS = ("adult", "credit_default_taiwan", "shuttle")
SIZES = (4_000, 5_000, 5_001, 10_000, 20_000)
HELD_OUT, ERRORS = 8_000, 5


def measure(name: str, sizes: list[int]) -> None:
    """Fit trees of growing size, and print a row for each."""
    import numpy as np

    import worthwhile as ww

    warnings.simplefilter("ignore")
    data = ww.datasets.load(name, as_frame=False)
    known = {"nominal": data.nominal, "columns": data.feature_names}
    order = np.random.default_rng(0).permutation(len(data.y))
    new, rest = order[:HELD_OUT], order[HELD_OUT:]
    some = rest[: sizes[0]]
    prices = ww.datasets.random_costs(data.X[some], data.y[some], random_state=0, **known)
    costs = prices.with_errors(ERRORS * prices.total_price())
    for n in sizes:
        start = time.perf_counter()
        clf = ww.ACTClassifier(costs=costs, random_state=0, **known).fit(data.X[rest[:n]], data.y[rest[:n]])
        row = {
            "set": name,
            "n": n,
            "cost": float(clf.total_costs(data.X[new], data.y[new]).mean()),
            "expected": float(clf.expected_cost_),
            "leaves": clf.tree_.n_leaves,
            "seconds": time.perf_counter() - start,
        }
        print(json.dumps(row), flush=True)


def draw(sets: list[str], before: list[dict], after: list[dict], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(sets), figsize=(5 * len(sets), 3.6), layout="constrained", squeeze=False)
    for ax, name in zip(axes[0], sets, strict=True):
        for rows, label, style in ((before, "before", "o--"), (after, "now", "o-")):
            own = [row for row in rows if row["set"] == name]
            if own:
                ax.plot([row["n"] for row in own], [row["cost"] for row in own], style, label=label)
        ax.set(title=name, xlabel="training cases", ylabel="cost per new case", ylim=(0, None))
        ax.legend()
    figure.savefig(path, dpi=110)


def page(before: list[dict], after: list[dict]) -> str:
    lines = ["# Cost by number of training cases", "", provenance(), ""]
    lines += [
        "ACT with default parameters; costs per case of 8,000 held-out cases. The cliff was found on adult; no setting"
        " was changed after looking at the other sets.",
        "",
        "![costs by size](sizes.png)",
        "",
    ]
    for title, rows in (("Before", before), ("Now", after)):
        if rows:
            lines += [
                f"## {title}",
                "",
                "| set | cases | cost | expected | leaves | seconds |",
                "|---|---:|---:|---:|---:|---:|",
            ]
            for row in rows:
                money, size = f"{row['cost']:.1f} | {row['expected']:.1f}", f"{row['leaves']} | {row['seconds']:.0f}"
                lines.append(f"| {row['set']} | {row['n']:,} | {money} | {size} |")
            lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--set", help="measure one data set with this interpreter, and print the rows")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--before", help="the interpreter of an older version to compare with")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/results")
    options = parser.parse_args()
    if "WORTHWHILE_DATA" not in os.environ:
        parser.error("set WORTHWHILE_DATA to the folder of the data sets")
    if options.set:
        measure(options.set, options.sizes)
        return
    before: list[dict] = []
    after: list[dict] = []
    for name in options.sets:
        print(name, flush=True)
        versions = [sys.executable, *([options.before] if options.before else [])]
        found = rows_by(versions, __file__, "--set", name, "--sizes", *options.sizes)
        after += found[0]
        before += found[1] if options.before else []
    (options.out / "sizes.md").write_text(page(before, after), encoding="utf-8")
    draw(options.sets, before, after, options.out / "sizes.png")


if __name__ == "__main__":
    main()
