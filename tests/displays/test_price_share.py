"""Spending by test."""

import math

import pytest

import worthwhile as ww
from handmade import tree, turney
from worthwhile.displays import PriceShareDisplay


def test_amounts_are_those_of_spending():
    known = tree(turney())
    X, y = [[3, 0, "2", 0], [1, 7, None, None]], [1, 1]
    display = PriceShareDisplay.from_estimator(known, X, y)
    # The first case pays for everything (Turney 1995), the second for alpha and beta, and is answered 0.
    expected = {"beta": 10.0, "alpha": 5.0, "epsilon": 4.0, "delta": 2.5, "A (common price)": 1.0, "errors": 25.0}
    assert display.amounts == {"Tree": expected}
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == sorted(expected, key=lambda item: -expected[item])
    assert [bar.get_width() for bar in display.bars_["Tree"]] == sorted(expected.values(), reverse=True)
    assert display.ax_.get_legend() is None


def test_several_learners_share_their_items():
    amounts = {"a": {"x": 1.0, "y": 5.0}, "b": {"z": 3.0, "x": 2.0}}
    display = PriceShareDisplay.from_amounts(amounts)
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["y", "z", "x"]
    assert [bar.get_width() for bar in display.bars_["a"]] == [5, 0, 1]
    assert [bar.get_width() for bar in display.bars_["b"]] == [0, 3, 2]
    assert display.ax_.get_legend() is not None


def test_what_is_beyond_the_largest_items_is_one_bar():
    amounts = {f"test {i}": float(i) for i in range(1, 21)}
    display = PriceShareDisplay.from_amounts(amounts, most=3, color="black")
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == ["test 20", "test 19", "test 18", "17 more"]
    assert [bar.get_width() for bar in display.bars_["amount"]] == [20, 19, 18, sum(range(1, 18))]
    assert display.bars_["amount"][0].get_facecolor() == (0, 0, 0, 1)


def test_names_are_not_mathematics():
    display = PriceShareDisplay.from_amounts({"price in $_{": 1.0})
    display.figure_.canvas.draw()
    assert display.ax_.get_yticklabels()[0].get_text() == "price in $_{"


def test_wrong_amounts():
    with pytest.raises(ValueError, match="there are no amounts"):
        PriceShareDisplay(amounts={})
    with pytest.raises(ValueError, match="the amounts of 'b' must be a mapping"):
        PriceShareDisplay.from_amounts({"a": {"x": 1.0}, "b": 3.0})
    with pytest.raises(ValueError, match="the amounts of 'a' must be finite, but entry 0 is nan"):
        PriceShareDisplay.from_amounts({"a": {"x": math.nan}})
    with pytest.raises(ValueError, match="most must be an integer of at least 1, got 0"):
        PriceShareDisplay.from_amounts({"x": 1.0}, most=0)


def test_nothing_paid_is_an_empty_picture():
    clf = ww.DTMCClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    display = PriceShareDisplay.from_estimator(clf, [[1], [2]])
    assert display.amounts == {"DTMC": {}}
    display.figure_.canvas.draw()
