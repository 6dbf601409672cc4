"""The bar chart of a comparison."""

import pytest
from matplotlib.figure import Figure

import worthwhile as ww
from two_classes import COSTS, problem
from worthwhile.evaluation.compare import cross_compare


def test_the_picture_shows_every_learner_with_its_interval():
    X, y = problem()
    found = cross_compare({"a": ww.C45Classifier(costs=COSTS), "b": ww.DTMCClassifier(costs=COSTS)}, X, y, folds=3)
    ax = found.plot(Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]
    assert ax.yaxis_inverted()
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx(
        [s.test_cost.mean for s in found.standings] + [s.error_cost.mean for s in found.standings]
    )


def test_a_dollar_sign_in_a_name_is_text():
    X, y = problem()
    name = r"$\frac$"  # not valid as mathtext
    found = cross_compare({name: ww.C45Classifier(costs=COSTS), "$b$": ww.DTMCClassifier(costs=COSTS)}, X, y, folds=2)
    ax = found.plot(Figure().subplots())
    ax.figure.draw_without_rendering()
    assert {label.get_text() for label in ax.get_yticklabels()} == {name, "$b$"}
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
