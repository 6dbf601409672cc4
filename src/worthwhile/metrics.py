"""The public names of `worthwhile.evaluation.metrics`."""

from worthwhile.evaluation.metrics import *  # noqa: F403
from worthwhile.evaluation.metrics import __all__  # noqa: F401
