"""Replaying cases with another model or price list."""

import json

import pytest
import sqlalchemy as sa

import worthwhile as ww
from clinic import clinic
from worthwhile.service import replay_cases as module
from worthwhile.service.replay_cases import replay_case, replay_cases, reprice_cases


def tree(**changes):
    return ww.Tree.from_json(json.dumps(clinic() | changes))


@pytest.fixture
def closed(file_desk, change):
    """Two closed cases: one with all results and an outcome, one that ended early without."""
    first = change("create", None, "full", {"age": 63, "scan": "spot"})
    change("results", first["id"], {"chol": 300, "sugar": 5}, 1)
    change("close", first["id"], "well")
    second = change("create", None, "early", {"age": 30})
    change("close", second["id"])
    change("create", None, "open", {"age": 63})
    return file_desk


def test_the_same_model_costs_the_same(closed):
    with closed.database.read() as connection:
        report = replay_cases(connection, closed.cases, tree())
    full, early = report.lines
    assert (full.case_number, full.tests_before, full.tests_low, full.tests_high) == ("full", 53, 53, 53)
    assert (full.before, full.low, full.high, full.unknown) == (253, 253, 253, ())
    assert (early.tests_low, early.before, early.low) == (1, None, None)
    totals = report.totals()
    assert (totals["cases"], totals["exact"], totals["outcomes"], totals["low"]) == (2, 2, 1, 253)


def test_bounds_where_results_are_unknown(closed):
    # A model that asks for the scan first, whatever the age: the second case has no scan.
    nodes = [
        {"test": "scan", "branches": [["clear"], ["spot"]], "children": [1, 2], "weights": [80, 20], "answer": "well"},
        {"answer": "well", "weights": [60, 5]},
        {"test": "gene", "branches": [["no"], ["yes"]], "children": [3, 4], "answer": "sick", "weights": [20, 15]},
        {"answer": "well", "weights": [20, 0]},
        {"answer": "sick", "weights": [0, 15]},
    ]
    other = tree(nodes=nodes)
    with closed.database.read() as connection:
        full, early = replay_cases(connection, closed.cases, other).lines
    assert (full.tests_low, full.tests_high, full.unknown) == (940, 940, ("gene",))
    assert (full.low, full.high) == (940, 1140)  # right or wrong about a well patient
    assert (early.tests_low, early.tests_high, early.unknown) == (40, 940, ("scan", "gene"))


def test_bounds_contain_every_completion(closed):
    """Whatever the unknown results are, the cost lies between the bounds."""
    case = {
        "case_number": "1",
        "known": {"age": 63},
        "unavailable": {},
        "truth": "sick",
        "spent": 0,
        "actual_cost": 0,
    }
    model = tree()
    line = replay_case(model, case)
    seen = []
    for scan in ("clear", "spot"):
        for chol in (100, 240, 240.5, 900):
            for sugar in (1, 6, 7):
                values = {"age": 63, "scan": scan, "chol": chol, "sugar": sugar, "gene": "no"}
                found = model.run({}, {name: lambda name=name, v=values: v[name] for name in values})
                seen.append(found.spent + (1000 if found.answer == "well" else 0))
    assert (line.low, line.high) == (min(seen), max(seen))


def test_too_many_results_to_try(closed, monkeypatch):
    monkeypatch.setattr(module, "MAX_TRIES", 2)
    case = {"case_number": "1", "known": {}, "unavailable": {}, "truth": None, "spent": 0, "actual_cost": None}
    line = replay_case(tree(), case)
    assert (line.tests_low, line.tests_high) == (0, 953)


def test_cases_that_do_not_fit(closed):
    columns = [{"name": "scan", "kind": "nominal", "values": ["dark"]}]
    nodes = [{"answer": "well", "weights": [1, 1]}]
    costs = {"tests": {}, "errors": 10}
    with closed.database.read() as connection:
        report = replay_cases(connection, closed.cases, tree(columns=columns, nodes=nodes, costs=costs))
    assert [number for number, _ in report.skipped] == ["full", "early"]
    assert "'spot' is not a value of scan" in report.skipped[0][1]
    assert report.skipped[1][1] == "its model heart has other tests"


def test_a_model_with_other_classes(closed):
    """A case without an outcome would otherwise be replayed with answers that it cannot have."""
    costs = {"tests": {}, "errors": 10}
    for classes in (["well", "ill"], ["well", "sick", "dead"]):
        nodes = [{"answer": "well", "weights": [1] * len(classes)}]
        with closed.database.read() as connection:
            report = replay_cases(connection, closed.cases, tree(classes=classes, nodes=nodes, costs=costs))
        assert report.lines == ()
        assert {why for _, why in report.skipped} == {"its model heart has other classes"}


def test_a_model_that_lacks_some_of_the_tests(closed):
    columns = [{"name": "blood", "kind": "numeric"}, {"name": "age", "kind": "numeric"}]
    nodes = [
        {"test": "age", "threshold": 40, "children": [1, 2], "answer": "well", "weights": [8, 2]},
        {"answer": "well", "weights": [8, 0]},
        {"answer": "sick", "weights": [0, 2]},
    ]
    costs = {"tests": {"age": 3.0}, "errors": 10}
    # The order of the classes is not a difference.
    other = tree(classes=["sick", "well"], columns=columns, nodes=nodes, costs=costs)
    with closed.database.read() as connection:
        report = replay_cases(connection, closed.cases, other)
    assert [(line.case_number, line.tests_low) for line in report.lines] == [("full", 3), ("early", 3)]


def test_a_case_without_results(file_desk, change):
    change("close", change("create", None, "none", {})["id"])
    columns = [{"name": "blood", "kind": "numeric"}]
    odd = tree(columns=columns, nodes=[{"answer": "well", "weights": [1, 1]}], costs={"tests": {}, "errors": 1})
    with file_desk.database.read() as connection:
        assert len(replay_cases(connection, file_desk.cases, tree()).lines) == 1
        assert replay_cases(connection, file_desk.cases, odd).skipped == (("none", "its model heart has other tests"),)


def test_another_price_list(closed):
    new = ww.Costs(tests={"age": 2.0, "scan": 10.0}, errors=500)
    with closed.database.read() as connection:
        full, early = reprice_cases(connection, closed.cases, new).lines
    assert (full.tests_before, full.tests_low, full.low) == (53, 12, 512)
    assert (early.tests_low, early.low) == (2, None)
    odd = ww.Costs(tests={"unheard": 1.0}, errors=1)
    with closed.database.read() as connection:
        assert len(reprice_cases(connection, closed.cases, odd).skipped) == 2


def test_nothing_to_replay(file_desk):
    with file_desk.database.read() as connection:
        assert replay_cases(connection, file_desk.cases, tree()).totals()["cases"] == 0
        assert connection.execute(sa.text("SELECT count(*) FROM cases")).scalar() == 0
