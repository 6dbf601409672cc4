"""How long a tree from a folder of Parquet files takes, pass by pass, and how much memory every process needs.

    python benchmarks/beyond_memory.py --folder /tmp/cases --out docs/results/beyond-memory.md

The cases have 20 columns, 19 of them numeric and one nominal. The folder is made first, unless its files exist. Every
way to learn runs in a process of its own; peak memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import provenance

TARGET = "y"
LEARNERS = ("DTMCClassifier", "EG2Classifier", "ACTClassifier")


def write(folder: Path, n_files: int, n_rows: int) -> None:
    """Write the files that are not there yet."""
    import pyarrow as pa
    import pyarrow.parquet

    folder.mkdir(parents=True, exist_ok=True)
    for part in range(n_files):
        path = folder / f"part-{part:03}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(part)
        X = rng.normal(size=(n_rows, 19)).astype(np.float32).round(2)
        kind = rng.integers(0, 6, n_rows)
        noise = 0.7 * rng.normal(size=n_rows)
        score = X[:, 0] + X[:, 1] * X[:, 2] + 0.8 * X[:, 3] + 0.5 * (kind % 2) + noise
        columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(18)}
        columns["kind"] = pa.DictionaryArray.from_arrays(pa.array(kind.astype(np.int8)), pa.array(list("abcdef")))
        columns |= {"x19": X[:, 18], TARGET: pa.array(np.where(score > 0.8, "yes", "no"))}
        temporary = path.with_suffix(".part")
        pa.parquet.write_table(pa.table(columns), temporary, row_group_size=131_072)
        temporary.rename(path)


def costs() -> Any:
    import worthwhile as ww

    return ww.Costs(tests={**{f"x{j}": 1.0 + j % 5 for j in range(18)}, "kind": 2.0, "x19": 4.0}, errors=200.0)


def learn(name: str, workers: int, folder: str) -> dict[str, Any]:
    """Learn in this process, or on Dask workers, and return the time of each pass, the memory and the tree."""
    import worthwhile as ww
    from worthwhile.learners import partitioned

    seconds: dict[str, float] = {}

    def timed(owner: Any, function: str) -> None:
        original = getattr(owner, function)

        def measuring(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            found = original(*args, **kwargs)
            seconds[function] = time.perf_counter() - start
            return found

        setattr(owner, function, measuring)

    for owner, function in (
        (partitioned, "survey"),
        (partitioned, "grown_from_samples"),
        (partitioned.PartitionedCases, "sample"),
        (partitioned.PartitionedCases, "sums"),
    ):
        timed(owner, function)
    clf, found = getattr(ww, name)(costs=costs(), random_state=0), {}
    if workers == 1:
        clf.fit_parts(folder, TARGET)
    else:
        import joblib
        from distributed import Client, LocalCluster

        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            with joblib.parallel_config("dask"):
                clf.fit_parts(folder, TARGET)
            found["workers"] = max(client.run(peak).values())
    return found | {
        "memory": peak(),
        "seconds": seconds,
        "steps": [list(step) for step in clf.parts_],
        "expected": clf.expected_cost_,
        "leaves": clf.tree_.n_leaves,
        "tree": clf.tree_.to_json(),
    }


def peak() -> int:
    """Return the peak memory of this process, in bytes."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="output file; otherwise the results are printed")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--rows", type=int, default=1_000_000, help="in each file")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS))
    parser.add_argument("--learn", nargs=2, metavar=("LEARNER", "WORKERS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.learn:
        print(json.dumps(learn(options.learn[0], int(options.learn[1]), str(options.folder))))
        return
    write(options.folder, options.files, options.rows)
    size = sum(path.stat().st_size for path in options.folder.glob("*.parquet"))
    lines = [
        "# Trees from a folder of Parquet files that does not fit in memory",
        "",
        provenance(f"pyarrow {importlib.metadata.version('pyarrow')}"),
        "",
        f"{options.files * options.rows:,} cases × 20 tests in {options.files} files, {size / 1e9:.1f} GB on disk,"
        f" {options.files * options.rows * 160 / 1e9:.1f} GB as numbers. Seconds of each pass: the survey of classes"
        " and nominal columns, the sample, the trees of growing samples, and the counts of all cases. Memory is the"
        " peak of the largest process, libraries included. The machine was busy with other work.",
        "",
        "| learner | workers | survey | sample | trees | counts | MB | from cases | leaves | expected cost |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    trees: dict[str, list[str]] = {}
    for name, workers in [(options.learners[0], 1), (options.learners[0], 2), *((n, 1) for n in options.learners[1:])]:
        command = [sys.executable, __file__, "--folder", str(options.folder), "--learn", name, str(workers)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        trees.setdefault(name, []).append(found["tree"])
        passes = (found["seconds"][key] for key in ("survey", "sample", "grown_from_samples", "sums"))
        memory = max(found["memory"], found.get("workers", 0))
        best = min(found["steps"], key=lambda step: step[1])[0]
        shown = " | ".join(f"{seconds:.0f}" for seconds in passes)
        lines.append(
            f"| {name} | {workers} | {shown} | {memory / 1e6:.0f} | {best:,} | {found['leaves']}"
            f" | {found['expected']:.4f} |"
        )
        print(lines[-1], flush=True)
    same = all(tree == own[0] for own in trees.values() for tree in own)
    lines += ["", f"The trees of one and of two Dask workers are {'the same' if same else 'NOT the same'}."]
    text = "\n".join(lines) + "\n"
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
