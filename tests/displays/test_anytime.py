"""Cost against training time."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import worthwhile as ww
from all_learners import COSTS
from display_cases import problem
from worthwhile.displays import AnytimeDisplay


def test_the_curve_of_a_search_is_its_history():
    X, y = problem()
    act = ww.ACTClassifier(costs=COSTS, time_limit=0.6, random_state=0).fit(X, y)
    icet = ww.ICETClassifier(costs=COSTS, trials=100, population=20, random_state=0).fit(X, y)
    display = AnytimeDisplay.from_estimator({"a": act, "i": icet}, X, y)
    course = display.histories["a"]
    assert course.costs[: len(act.history_)].tolist() == [entry.cost for entry in act.history_]
    assert course.seconds[: len(act.history_)].tolist() == [entry.seconds for entry in act.history_]
    assert act.stopped_ == "time limit"
    assert (course.seconds[-1], course.costs[-1]) == (0.6, act.history_[-1].cost)
    assert course.measured == pytest.approx(act.total_costs(X, y).mean())
    other = display.histories["i"]
    *search, last = icet.history_
    assert other.costs.tolist() == [entry.cost for entry in search]
    assert other.final == (last.seconds, last.cost)
    labels = display.ax_.get_legend_handles_labels()[1]
    assert labels == ["a", "a, measured", "i", "i, final", "i, measured"]


def test_the_published_searches_have_no_final():
    X, y = problem()
    icet = ww.ICETClassifier(costs=COSTS, variant="paper", trials=60, population=20, random_state=0).fit(X, y)
    display = AnytimeDisplay.from_estimator(icet, name="published")
    assert display.histories["published"].costs.tolist() == [entry.cost for entry in icet.history_]
    assert display.histories["published"].final is None
    assert display.histories["published"].measured is None


def test_time_limits_are_measured_on_cases_left_out():
    X, y = problem()
    act, eg2 = ww.ACTClassifier(costs=COSTS, random_state=0), ww.EG2Classifier(costs=COSTS)
    display = AnytimeDisplay.from_time_limits([act, eg2], X, y, time_limits=[0.4, 0.1], cv=2)
    assert len(display.histories["ACT"].costs) == 2
    assert 0.05 < display.histories["ACT"].seconds[0] < display.histories["ACT"].seconds[1]
    expected = [
        clone(eg2).fit(X[train], y[train]).total_costs(X[test], y[test]).mean()
        for train, test in StratifiedKFold(2).split(X, y)
    ]
    assert display.histories["EG2"].costs.tolist() == [pytest.approx(np.mean(expected))]
    lowest = display.histories["ACT"].costs
    assert np.isfinite(lowest).all()
    assert act.time_limit is None


def test_wrong_histories(tmp_path):
    X, y = problem(40)
    with pytest.raises(ValueError, match=r"'EG2' \(EG2Classifier\) has no search history"):
        AnytimeDisplay.from_estimator(ww.EG2Classifier().fit(X, y))
    ww.ACTClassifier(r=1, random_state=0).fit(X, y).save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="a model file has no history"):
        AnytimeDisplay.from_estimator(ww.load(tmp_path / "model.json"))
    with pytest.raises(ValueError, match="give both X and y, or neither"):
        AnytimeDisplay.from_estimator(ww.EG2Classifier().fit(X, y), X)
    with pytest.raises(ValueError, match="time_limits must be finite and at least 0"):
        AnytimeDisplay.from_time_limits(ww.ACTClassifier(), X, y, time_limits=[math.nan])
    with pytest.raises(ValueError, match="there is no search to show"):
        AnytimeDisplay(histories={})
