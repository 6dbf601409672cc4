"""The public names of `worthwhile.evaluation.metrics`, and the cost scorers."""

from typing import TYPE_CHECKING, Any

from worthwhile.evaluation.metrics import *  # noqa: F403
from worthwhile.evaluation.metrics import __all__ as _metrics

if TYPE_CHECKING:
    from worthwhile.evaluation.scorers import CostScorer, cost_scorer, make_cost_scorer

_SCORERS = ("CostScorer", "cost_scorer", "make_cost_scorer")

__all__ = [*_metrics, "CostScorer", "cost_scorer", "make_cost_scorer"]  # noqa: PLE0604 - all of them are strings


def __getattr__(name: str) -> Any:
    if name in _SCORERS:  # when first used: the metrics of scikit-learn that they need take a while to import
        from worthwhile.evaluation import scorers

        return getattr(scorers, name)
    raise AttributeError(f"module 'worthwhile.metrics' has no attribute {name!r}")
