"""What all displays share."""

import numpy as np
import pytest
from matplotlib import pyplot

import worthwhile as ww
from all_learners import COSTS
from display_cases import problem
from worthwhile.displays import AnytimeDisplay, BudgetDisplay, CostCurveDisplay, PriceShareDisplay
from worthwhile.displays.anytime import SearchHistory
from worthwhile.displays.budget import Curve

MADE = {
    "cost curve": lambda: CostCurveDisplay(error_costs=[1, 10], totals={"a": [1, 2], "no test": [2, 3]}),
    "anytime": lambda: AnytimeDisplay(histories={"a": SearchHistory(np.array([0.1, 2.0]), np.array([3.0, 2.0]))}),
    "budget": lambda: BudgetDisplay(curves={"a": Curve(np.array([0.0, 2.0]), np.array([0.5, 0.3]))}),
    "price share": lambda: PriceShareDisplay(amounts={"a": {"x": 1.0}}),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_displays_draw_on_given_axes_and_again(make, tmp_path):
    display = make()
    assert not hasattr(display, "ax_")
    figure, axes = pyplot.subplots(1, 2)
    assert display.plot(axes[1]) is display
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert pyplot.get_fignums() == [figure.number]
    display.plot()
    assert display.figure_ is not figure
    display.figure_.savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 1000


def test_names_of_estimators():
    X, y = problem(40)
    fitted = ww.C45Classifier(costs=COSTS).fit(X, y)
    display = BudgetDisplay.from_estimator([fitted, fitted, fitted], X, y)
    assert list(display.curves) == ["C45", "C45 (2)", "C45 (3)"]
    with pytest.raises(ValueError, match="name='mine' is for one estimator"):
        BudgetDisplay.from_estimator([fitted, fitted], X, y, name="mine")
    with pytest.raises(ValueError, match="name='mine' is for one estimator"):
        BudgetDisplay.from_estimator({"a": fitted}, X, y, name="mine")
    with pytest.raises(ValueError, match="no estimator to show"):
        BudgetDisplay.from_estimator([], X, y)


def test_drawing_options_reach_matplotlib():
    display = MADE["cost curve"]().plot(linewidth=5, log=False)
    assert display.lines_["a"].get_linewidth() == 5
    assert display.ax_.get_xscale() == "linear"
    assert MADE["anytime"]().plot().ax_.get_xscale() == "log"


def test_a_dollar_sign_in_a_name_is_text():
    name = r"$\frac$"  # not valid as mathtext
    display = CostCurveDisplay(error_costs=[1, 10], totals={name: [1, 2], "$b$": [2, 3]}).plot()
    display.figure_.draw_without_rendering()
    texts = display.ax_.get_legend().get_texts()
    assert [text.get_text() for text in texts] == [name, "$b$"]
    assert not any(text.get_parse_math() for text in texts)
