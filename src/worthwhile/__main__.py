"""The command ``worthwhile``, also ``python -m worthwhile``.

Importing the command line takes a moment, in which Ctrl-C and a lack of memory are as likely as later.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from worthwhile.cli import main as run
    except KeyboardInterrupt:
        _exit("stopped", 130)
    except (MemoryError, ImportError, OSError) as error:
        _exit(f"cannot start: {str(error) or type(error).__name__}", 2)
    try:
        run()
    except KeyboardInterrupt:  # while the command ends
        _exit("stopped", 130)


def _exit(message: str, code: int) -> None:
    sys.stderr.write(f"worthwhile: {' '.join(message.split())}\n")
    sys.exit(code)


if __name__ == "__main__":
    main()
