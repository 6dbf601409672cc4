"""Plots of costs, with scikit-learn's conventions: ``SomethingDisplay.from_estimator(...)`` computes and draws.

Each display keeps its numbers as attributes, and `plot` draws them again. matplotlib is imported for the first plot.
"""

from __future__ import annotations

from worthwhile.displays.anytime import AnytimeDisplay
from worthwhile.displays.budget import BudgetDisplay
from worthwhile.displays.candidates import CandidatesDisplay
from worthwhile.displays.cost_curve import CostCurveDisplay
from worthwhile.displays.price_share import PriceShareDisplay

__all__ = ["AnytimeDisplay", "BudgetDisplay", "CandidatesDisplay", "CostCurveDisplay", "PriceShareDisplay"]
