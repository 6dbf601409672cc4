"""Settings for all tests."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from example_counts import examples

# Slow examples are fine: on a busy machine they are no fault. With CI set, always the same examples: a new failure is
# then the fault of the change.
settings.register_profile(
    "worthwhile",
    max_examples=examples(100),
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("worthwhile")

# A shell starts a job in the background with Ctrl-C ignored, and so would be every process that a test starts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def repeats(monkeypatch):
    """Whole weights mean that cases are repeated, however many; usually only up to a hundred in total."""
    from worthwhile.learners import training

    monkeypatch.setattr(training, "MAX_REPEATED", 10_000)
