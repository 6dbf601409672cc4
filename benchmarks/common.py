"""What every benchmark prints above its table: when, at which commit, on what machine, by which command."""

from __future__ import annotations

import datetime
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def provenance() -> str:
    """Return the lines that say where the figures come from."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()
    changed = subprocess.run(["git", "status", "--porcelain", "--", "src", "core"], capture_output=True, text=True, cwd=ROOT, check=False).stdout
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    script = Path(sys.argv[0]).resolve().relative_to(ROOT)
    command = " ".join(["python", str(script), *map(shlex.quote, sys.argv[1:])])
    versions = ", ".join(f"{name} {_version(name)}" for name in ("worthwhile", "scikit-learn", "numpy"))
    return "\n".join(
        [
            f"- date: {datetime.date.today().isoformat()}",
            f"- commit: {commit}{' with uncommitted changes' if changed else ''}",
            f"- machine: {os.cpu_count()} cores ({_processor()}), {memory:.0f} GB, Python {platform.python_version()}, {versions}",
            f"- command: `{command}`",
        ]
    )


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "from source"


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()
