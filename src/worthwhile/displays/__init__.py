"""Pictures of costs, by scikit-learn's conventions: ``SomethingDisplay.from_estimator(...)`` computes and draws.

Each display keeps the numbers that it shows as attributes, and `plot` draws them again. matplotlib is imported when the
first one is drawn.
"""

from __future__ import annotations

from worthwhile.displays._anytime import AnytimeDisplay
from worthwhile.displays._budget import BudgetDisplay
from worthwhile.displays._cost_curve import CostCurveDisplay
from worthwhile.displays._price_share import PriceShareDisplay

__all__ = ["AnytimeDisplay", "BudgetDisplay", "CostCurveDisplay", "PriceShareDisplay"]
