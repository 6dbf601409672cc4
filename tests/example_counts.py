"""How many examples hypothesis draws: fewer where the same tests run a second time (.ci/sanitize, .ci/lowest)."""

import os


def examples(usual):
    """Return the usual number, times the share that WORTHWHILE_EXAMPLES says; at least five."""
    return max(round(usual * float(os.environ.get("WORTHWHILE_EXAMPLES", "1"))), min(usual, 5))
