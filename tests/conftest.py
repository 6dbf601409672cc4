"""Settings of hypothesis for all tests: slow examples are fine, on a busy machine they are no fault."""

import os

from hypothesis import HealthCheck, settings

from example_counts import examples

# With CI set, always the same examples: a new failure is then the fault of the change.
settings.register_profile(
    "worthwhile",
    max_examples=examples(100),
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("worthwhile")
