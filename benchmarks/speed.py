"""How fast worthwhile grows and uses trees, as ratios against scikit-learn measured in the same run.

    python benchmarks/speed.py --out docs/results/speed.md

Both learners grow the full entropy tree (no pruning, pure leaves) on the same numbers, with one thread. Repeats are
interleaved and the minimum counts, because other processes only make a run slower. Memory and import
time are measured in separate processes.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import provenance

SIZES = ((500, 8, 200), (5_000, 20, 20), (100_000, 50, 3), (1_000_000, 20, 1))


def make(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return a noisy two-class problem with interactions: the trees grow deep, as they do on real data."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    signal = X[:, 0] + X[:, 1] * X[:, 2] - 0.5 * X[:, 3] ** 2 + np.sin(2 * X[:, 4]) + 0.5 * rng.normal(size=n)
    return X, (signal > 0).astype(np.int64)


def learner(name: str):
    if name == "worthwhile":
        import worthwhile as ww

        return ww.EG2Classifier(prune="none", min_cases=1, min_share=0, cross_fit=False)
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(criterion="entropy", random_state=0)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(n: int, d: int, repeats: int) -> dict[str, float]:
    X, y = make(n, d)
    ours, theirs = learner("worthwhile"), learner("scikit-learn")
    best: dict[str, float] = {}

    def note(key: str, work: Callable[[], object]) -> None:
        best[key] = min(best.get(key, math.inf), seconds(work))

    for _ in range(repeats):
        note("fit ours", lambda: ours.fit(X, y))
        note("fit theirs", lambda: theirs.fit(X, y))
    for _ in range(max(repeats, 5)):
        note("predict ours", lambda: ours.predict(X))
        note("prices ours", lambda: ours.predict_with_prices(X))
        note("predict theirs", lambda: theirs.predict(X))
    best["accuracy ours"], best["accuracy theirs"] = ours.score(X, y), theirs.score(X, y)
    best["nodes ours"], best["nodes theirs"] = ours.tree_.n_nodes, theirs.tree_.node_count
    return best


def fit_time(n: int, repeats: int) -> tuple[float, float]:
    """Return the time of growing on n cases of 20 columns, and the mean depth at which a case ends."""
    X, y = make(n, 20)
    clf = learner("worthwhile")
    best = min(seconds(lambda: clf.fit(X, y)) for _ in range(repeats))
    nodes = clf.tree_.nodes
    depth = np.zeros(len(nodes.test))
    for node in range(len(depth)):
        depth[nodes.children(node)] = depth[node] + 1
    leaves = nodes.test < 0
    return best, float(np.average(depth[leaves], weights=nodes.weights[leaves].sum(axis=1)))


def growth() -> list[tuple[int, float, float]]:
    return [(n, *fit_time(n, 3 if n >= 300_000 else 8)) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]


def peak_memory(name: str) -> float:
    """Return the peak resident memory, in MB, of a process that makes the largest data and fits."""
    # VmHWM and not getrusage: in a new process, that starts from the peak of the parent process.
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import speed
X, y = speed.make(1_000_000, 20)
{"speed.learner(" + repr(name) + ").fit(X, y)" if name else ""}
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout) / 1024


def import_time(statement: str) -> float:
    code = f"import time; s = time.perf_counter(); {statement}; print(time.perf_counter() - s)"
    return min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(7)
    )


def nominal_table() -> str:
    """Compare with J48 if Weka and the data are available."""
    import j48

    return j48.speed_table()


def size_rows(sizes: dict[str, dict[str, float]]) -> list[str]:
    rows = [
        "| cases × tests | fit | predict | predict with prices | training accuracy | nodes |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for size, r in sizes.items():
        fit, predict, prices = (
            r[f"{ours} ours"] / r[f"{theirs} theirs"]
            for ours, theirs in (("fit", "fit"), ("predict", "predict"), ("prices", "predict"))
        )
        accuracy = f"{r['accuracy ours']:.4f} / {r['accuracy theirs']:.4f}"
        nodes = f"{r['nodes ours']:,.0f} / {r['nodes theirs']:,.0f}"
        rows.append(f"| {size} | {fit:.3f} | {predict:.2f} | {prices:.2f} | {accuracy} | {nodes} |")
    return rows


def growth_rows(measured: list[tuple[int, float, float]]) -> list[str]:
    rows = [
        "| n | time | mean depth of a case | time / (n log n) | time / (n × mean depth) |",
        "|---:|---:|---:|---:|---:|",
    ]
    base_n, base_t, base_depth = measured[0]
    for n, t, depth in measured:
        time_, by_log = t / base_t, n * math.log(n) / (base_n * math.log(base_n))
        by_depth = n * depth / (base_n * base_depth)
        rows.append(f"| {n:,} | {time_:.1f} | {depth:.1f} | {time_ / by_log:.2f} | {time_ / by_depth:.2f} |")
    return rows


def report(results: dict) -> str:
    memory, imports = results["memory"], results["imports"]
    lines = [
        "# Speed",
        "",
        provenance(),
        "",
        "Unpruned entropy trees on the same numbers, one thread, minimum of the repeats. Ratios of times, worthwhile's",
        "divided by scikit-learn's: below 1, worthwhile is faster. *Predict with prices* gives answers and prices, and",
        "is divided by scikit-learn's plain predict. Accuracy and nodes: ours / scikit-learn's.",
        "",
        *size_rows(results["sizes"]),
        "",
        "Target: fit at most 0.2 at every size, predict with prices at most 1.0.",
        "",
        "## Memory at 1,000,000 × 20",
        "",
        f"Peak resident memory of a process that makes the data and fits: worthwhile {memory['worthwhile']:.0f} MB, "
        f"scikit-learn {memory['scikit-learn']:.0f} MB, ratio {memory['worthwhile'] / memory['scikit-learn']:.2f} "
        f"(wanted: at most 1). The data alone: {memory['data']:.0f} MB.",
        "",
        "## Growth",
        "",
        "Growing on n cases of 20 tests; times relative to the first row. A column of ones would be exactly n · log n,",
        "or n times the depth at which a case ends on average, which here grows a little faster than log n.",
        "",
        *growth_rows(results["growth"]),
        "",
        "## Import",
        "",
        f"`import worthwhile` takes {imports['package'] / imports['sklearn']:.2f} of `import sklearn.tree`, "
        f"`from worthwhile import EG2Classifier` {imports['learner'] / imports['sklearn']:.2f} (wanted: at most 1.2).",
        "",
        results["nominal"],
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="Markdown file to write; default: standard output")
    parser.add_argument("--quick", action="store_true", help="only the two small sizes, once")
    options = parser.parse_args()
    results: dict = {"sizes": {}}
    for n, d, repeats in SIZES[: 2 if options.quick else None]:
        results["sizes"][f"{n:,} × {d}"] = compare(n, d, repeats)
        print(f"{n:,} × {d}: {json.dumps(results['sizes'][f'{n:,} × {d}'])}", file=sys.stderr)
    if options.quick:
        return
    results["memory"] = {
        "data": peak_memory(""),
        "worthwhile": peak_memory("worthwhile"),
        "scikit-learn": peak_memory("scikit-learn"),
    }
    results["growth"] = growth()
    results["imports"] = {
        "package": import_time("import worthwhile"),
        "learner": import_time("from worthwhile import EG2Classifier"),
        "sklearn": import_time("import sklearn.tree"),
    }
    results["nominal"] = nominal_table()
    text = report(results)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
