"""How much memory a forest from a folder of Parquet files takes, against one from the same cases in one table.

    python benchmarks/parts.py --out docs/results/parts-memory.md

The same cases are in 2, 4, 8, … files; `fit_parts` is trained on all of them, `fit` on one table. Peak memory is that
of a separate process, minus its memory after importing the libraries.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import provenance

COLUMNS = 30
OPTIONS = {"variant": "paper", "max_trees": 16, "alpha": 100, "max_depth": 6, "random_state": 0}
SEED = 0


def write(folder: Path, n_files: int, n_cases: int) -> None:
    """Write a noisy two-class problem to files of the same size."""
    import pyarrow
    import pyarrow.parquet

    rng = np.random.default_rng(SEED)
    for part in range(n_files):
        X = rng.normal(size=(n_cases // n_files, COLUMNS))
        y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=len(X)) > 0).astype(np.int64)
        table = pyarrow.table({f"x{j}": X[:, j] for j in range(COLUMNS)} | {"y": y})
        pyarrow.parquet.write_table(table, folder / f"{part:04}.parquet")


def learn(way: str, folder: str) -> dict[str, float]:
    """Train in this process and return its memory and time."""
    import pyarrow.parquet

    import worthwhile as ww

    files = sorted(Path(folder).glob("*.parquet"))
    few = np.random.default_rng(SEED).normal(size=(200, 2))
    ww.BudgetForestClassifier(**OPTIONS).fit(few, few[:, 0] > 0)  # imports what is needed
    before, start = peak(), time.perf_counter()
    clf = ww.BudgetForestClassifier(**OPTIONS)
    if way == "parts":
        clf.fit_parts(folder, "y")
    else:
        tables = [pyarrow.parquet.ParquetFile(path).read() for path in files]
        table = pyarrow.concat_tables(tables)
        X = np.empty((len(table), COLUMNS))
        for j in range(COLUMNS):
            X[:, j] = table[f"x{j}"]
        y = table["y"].to_numpy()
        del tables, table
        clf.fit(X, y)
    return {"memory": peak() - before, "seconds": time.perf_counter() - start, "error": clf.record_.error}


def peak() -> int:
    """Return the peak memory of this process, in bytes; getrusage would include that of the parent process."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def measured(way: str, folder: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--learn", way, str(folder)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="output file; otherwise the results are printed")
    parser.add_argument("--cases", type=int, default=800_000)
    parser.add_argument("--files", type=int, nargs="+", default=[2, 4, 8, 16, 32])
    parser.add_argument("--learn", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn:
        print(json.dumps(learn(*options.learn)))
        return
    size = options.cases * COLUMNS * 8
    lines = [
        "# The memory of a forest from a folder of Parquet files",
        "",
        provenance(f"pyarrow {importlib.metadata.version('pyarrow')}"),
        "",
        f"{options.cases:,} cases × {COLUMNS} numeric columns, {size / 1e6:.0f} MB as numbers; {OPTIONS['max_trees']}"
        f" trees of depth {OPTIONS['max_depth']}, one thread. Peak memory on top of that when the libraries are"
        " loaded. The error is that of the validation cases.",
        "",
        "| learned by | files | MB | share of the data | share of `fit` | seconds | error |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    whole = None
    for n_files in options.files:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), n_files, options.cases)
            for way in ("parts",) if whole else ("table", "parts"):
                found = measured(way, Path(folder))
                whole = whole or found["memory"]
                name = "`fit`, one table" if way == "table" else "`fit_parts`"
                lines.append(
                    f"| {name} | {n_files if way == 'parts' else '–'} | {found['memory'] / 1e6:.0f}"
                    f" | {found['memory'] / size:.2f} | {found['memory'] / whole:.2f} | {found['seconds']:.1f}"
                    f" | {found['error']:.4f} |"
                )
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
