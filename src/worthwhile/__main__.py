"""``python -m worthwhile`` is the command ``worthwhile``."""

from worthwhile.cli import main

if __name__ == "__main__":
    main()
