"""What models cost: metrics, baselines, comparisons, spending per test, break-even prices."""

from worthwhile.evaluation.compare import CrossComparison, Standing, cross_compare
from worthwhile.evaluation.evaluate import Evaluation, Strategy, evaluate
from worthwhile.evaluation.intervals import Estimate
from worthwhile.evaluation.sensitivity import BreakEven, break_even
from worthwhile.evaluation.spending import Item, Spending, spending

__all__ = [
    "BreakEven",
    "CrossComparison",
    "Estimate",
    "Evaluation",
    "Item",
    "Spending",
    "Standing",
    "Strategy",
    "break_even",
    "cross_compare",
    "evaluate",
    "spending",
]
