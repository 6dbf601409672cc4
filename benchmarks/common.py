"""What benchmarks share: provenance of results, timing, and tables as scikit-learn's trees need them."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import math
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def provenance(*more: str) -> str:
    """Return lines on how the results were made; `more`: versions of other programs."""
    commit = _git("rev-parse", "--short", "HEAD") or "unknown"
    changed = " with uncommitted changes" if _git("status", "--porcelain", "--", "src", "core") else ""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {_version(name)}" for name in ("worthwhile", "scikit-learn", "numpy"))
    return "\n".join(
        [
            f"- date: {datetime.date.today().isoformat()}",
            f"- commit: {commit}{changed}",
            f"- machine: {os.cpu_count()} cores ({_processor()}), {memory:.0f} GiB, {platform.system()}",
            f"- versions: {', '.join([f'Python {platform.python_version()}', versions, *more])}",
            f"- command: `{_command()}`",
        ]
    )


def _git(*words: str) -> str:
    """Return the output of git; empty if that fails."""
    git = shutil.which("git")
    if git is None:
        return ""
    return subprocess.run([git, *words], capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()


def _command() -> str:
    """Return the command that runs the script again from the root of the repository, without the data folder."""
    data = ["WORTHWHILE_DATA=folder"] if os.environ.get("WORTHWHILE_DATA") else []
    script = Path(sys.argv[0]).resolve().relative_to(ROOT)
    return " ".join([*data, "python", str(script), *map(shlex.quote, sys.argv[1:])])


def _version(package: str) -> str:
    if package == "worthwhile":
        import worthwhile  # it may run from its sources, without package metadata

        return worthwhile.__version__
    return importlib.metadata.version(package)


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def plain(X: np.ndarray) -> np.ndarray:
    """Return the table as numbers, nominal values as codes."""
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


def least(work: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the minimum time of each piece of work, over interleaved repeats."""
    best = dict.fromkeys(work, math.inf)
    for _ in range(repeats):
        for key, run in work.items():
            best[key] = min(best[key], seconds(run))
    return best


def rows_by(pythons: Sequence[str], script: str, *options: object) -> list[list[dict[str, Any]]]:
    """Run a script with interpreters that have different versions installed, at the same time.

    Returns, for each interpreter, the JSON objects that the script printed, one a line.
    """

    def run(python: str) -> list[dict[str, Any]]:
        command = [python, script, *map(str, options)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(script).parent)
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    with ThreadPoolExecutor() as pool:
        return list(pool.map(run, pythons))
