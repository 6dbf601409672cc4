"""What learners cost; see `worthwhile.evaluation.metrics`, which this module is."""

from worthwhile.evaluation.metrics import (
    Comparison,
    CostReport,
    average_cost,
    average_precision_at,
    compare,
    cost_report,
    cost_scorer,
    high_cost_errors,
    n_errors,
    normalized_cost,
    total_error_cost,
    tree_size,
)

__all__ = [
    "Comparison",
    "CostReport",
    "average_cost",
    "average_precision_at",
    "compare",
    "cost_report",
    "cost_scorer",
    "high_cost_errors",
    "n_errors",
    "normalized_cost",
    "total_error_cost",
    "tree_size",
]
