"""Two price lists compared."""

import worthwhile as ww
from worthwhile.costs.comparison import compare_costs


def test_everything_that_differs_is_named():
    old = ww.Costs(
        tests={"a": 1, "b": ww.Test(2, group="g"), "c": ww.Test(3, requires=("a",)), "d": 4},
        groups={"g": 5},
        errors={"x": {"y": 10}, "y": {"x": 20}},
    )
    surcharges = (ww.Surcharge(9.0, truth="x"), ww.Surcharge(-1.0, after=("a",)))
    new = ww.Costs(
        tests={"a": 1, "b": ww.Test(2, group=("g", "h"), wait=3), "d": ww.Test(4, surcharges=surcharges), "e": 6},
        groups={"g": 7, "h": 1},
        errors={"x": {"y": 10, "?": 1}, "y": {"x": 25, "?": 1}},
        waiting=2.5,
    )
    found = {change.what: (change.before, change.after) for change in compare_costs(old, new, ["x", "y"])}
    assert found == {
        "b": ("2.00, group g", "2.00, group g and h, wait 3"),
        "c": ("3.00, requires a", "free"),
        "d": ("4.00", "4.00, 9.00 if class x, -1.00 after a"),
        "e": ("free", "6.00"),
        "group g": ("5.00", "7.00"),
        "group h": ("–", "1.00"),
        "waiting": ("–", "2.50"),
        "y, answered x": ("20.00", "25.00"),
        "x, answered ?": ("–", "1.00"),
        "y, answered ?": ("–", "1.00"),
    }
    curve = ww.Costs(waiting=[(0, 0), (24, 10)])
    assert compare_costs(ww.Costs(), curve, ["x"])[0].after == "0.00 for 0, 10.00 for 24"


def test_equal_lists_differ_in_nothing():
    costs = ww.datasets.load("heart").costs
    assert compare_costs(costs, costs, ["buff", "sick"]) == []
    assert compare_costs(ww.Costs(tests={"a": 0.0}), ww.Costs(), ["x"]) == []  # a free test needs no price
