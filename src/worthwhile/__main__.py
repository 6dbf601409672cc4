"""The command ``worthwhile``, also ``python -m worthwhile``.

Importing the command line takes a moment, in which Ctrl-C and a lack of memory are as likely as later.
"""

from __future__ import annotations

import os
import sys

__all__ = ["main"]

# Megabytes of memory (`ulimit -v`) that libraries and a small table take, with a single thread of BLAS. With less,
# OpenBLAS may ask for a buffer again and again for ever, deaf to signals.
LEAST_MEMORY = 650


def main() -> None:
    """Run the command line."""
    try:
        limited = _memory_limit()
        from worthwhile.cli import main as run

        if limited:
            _keep_buffers()
    except KeyboardInterrupt:
        _exit("stopped", 130)
    except (MemoryError, ImportError, OSError) as error:
        _exit(f"cannot start: {str(error) or type(error).__name__}", 2)
    try:
        run()
    except KeyboardInterrupt:  # while the command ends
        _exit("stopped", 130)


def _memory_limit() -> bool:
    """Return whether there is a limit; if it is too low, exit."""
    try:
        import resource
    except ImportError:  # not on Windows
        return False
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return False
    if limit < LEAST_MEMORY * 2**20:
        needed = f"at least {LEAST_MEMORY} MB are needed"
        _exit(f"cannot start: not enough memory; the limit (ulimit -v) is {limit // 2**20} MB, {needed}", 2)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # otherwise there are buffers for every core
    return True


def _keep_buffers() -> None:
    """Let the BLAS of numpy and that of scipy get their buffers while there is memory; they keep them."""
    import numpy as np
    from scipy.linalg import lapack

    some = np.eye(100)
    lapack.dpotrf(some @ some)


def _exit(message: str, code: int) -> None:
    sys.stderr.write(f"worthwhile: {' '.join(message.split())}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
