"""The engine of a case: it spends and answers what the project's own run does, in whatever order results come."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import worthwhile as ww
from cascade_problems import fitted
from clinic import clinic
from problems import compare
from wildtrees import NAMES, VALUES, random_content
from worthwhile.service.case_state import CaseState, fold_events, label_of, read_result
from worthwhile.service.case_store import CaseStore
from worthwhile.service.event_log import CaseEvent
from worthwhile.service.model_store import ServedModel


class Notebook:
    """A case without a database: its events in a list, made by the steps that `CaseStore` makes."""

    def __init__(self, model, known=None):
        self.served = ServedModel("id", "model", 1, model)
        known = known or {}
        self.events = []
        self.add(
            "opened",
            {
                "case_number": "1",
                "known": known,
                "known_order": sorted(known, key=lambda n: known[n] is not None),
                "already_paid": [],
            },
        )

    def add(self, action, content):
        content = json.loads(json.dumps(content))  # as a database keeps it
        self.events.append(
            CaseEvent(len(self.events) + 1, f"2026-01-01T00:00:{len(self.events):02d}Z", "ana", action, content)
        )

    @property
    def state(self) -> CaseState:
        return fold_events(self.served, self.events)

    def change(self, method, *args):
        """Make a change by the code of the store, with this list in the place of the database."""
        store = CaseStore(None)
        store._change = lambda _, user, case_id, version, steps: [self.add(*step) for step in steps(self.state)]
        getattr(store, method)(None, None, "id", *args)


def random_tree(rng):
    """A tree written by hand in which every value has a branch, so that every test that is done is charged."""
    content = random_content(rng)
    for node in content["nodes"]:
        if "branches" in node:
            node["branches"] = [["a", "c"], ["b"]]
    return ww.Tree.from_json(json.dumps(content))


def random_values(rng, missing):
    values = {n: float(rng.integers(-3, 4)) if n[0] == "n" else str(rng.choice(VALUES)) for n in NAMES}
    return {n: None if rng.random() < missing else v for n, v in values.items()}


def follow(notebook, values, rng, order_first):
    """Do what is advised until there is an answer; ordered results come in any order. Return the prices of slips."""
    paid = []
    for _ in range(50):
        state = notebook.state
        guidance = state.guidance()
        if guidance.advice.test is None:
            return paid
        if guidance.slip and order_first and values[guidance.advice.test] is not None:
            notebook.change("order", list(guidance.slip), None)
            paid.append(guidance.price)
            now = notebook.state.guidance()
            # What is paid for changes the way through a cascade, and so how likely the class of a surcharge is.
            if now.advice.amounts == guidance.advice.amounts:
                assert now.spent == pytest.approx(guidance.spent + guidance.price)
            continue
        if guidance.slip:
            name = guidance.advice.test
        else:
            name = str(rng.choice(state.pending)) if rng.random() < 0.7 else guidance.advice.test
        notebook.change("results", {name: values[name]}, None)
    raise AssertionError("the case never ends")


@compare(150)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_case_costs_and_answers_what_run_says(seed, order_first):
    rng = np.random.default_rng(seed)
    tree, values = random_tree(rng), random_values(rng, 0.0)
    notebook = Notebook(tree)
    follow(notebook, values, rng, order_first)
    expected = tree.run({}, {name: lambda name=name: values[name] for name in NAMES})
    guidance = notebook.state.guidance()
    assert guidance.advice.answer == expected.answer
    assert guidance.spent == pytest.approx(expected.spent)
    assert sum(line.price for line in guidance.ledger) == pytest.approx(expected.spent)


@compare(100)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_test_is_charged_twice_in_any_order(seed, order_first):
    """Unavailable tests, results nobody asked for, corrections: the case pays for the tests done, each once."""
    rng = np.random.default_rng(seed)
    tree, values = random_tree(rng), random_values(rng, 0.25)
    notebook = Notebook(tree)
    for name in rng.permutation(NAMES)[: rng.integers(0, 3)]:
        notebook.change("results", {str(name): values[str(name)]}, None)
    follow(notebook, values, rng, order_first)
    state = notebook.state
    guidance, pricing = state.guidance(), tree.context.pricing
    done = [name for name, test in state.tests.items() if test.state != "unavailable"]
    assert len({line.test for line in guidance.ledger}) == len(guidance.ledger)
    unavailable = {tree.schema.position[name] for name in set(state.tests).difference(done)}
    assert guidance.spent == pytest.approx(pricing.price(tree.context.closure_of(done) - unavailable))
    assert {name: values[name] for name in state.known} == state.known


def test_surcharges_and_waits_cost_what_run_says():
    costs = ww.Costs(
        tests={
            "x0": ww.Test(4, wait=24, surcharges=[ww.Surcharge(30, truth="b")]),
            "x1": ww.Test(2, surcharges=[ww.Surcharge(5, after=("x0",))]),
        },
        errors=100,
        waiting=0.5,
    )
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 2)).astype(float)
    y = np.where(X[:, 0] + X[:, 1] > 2, "b", "a")
    clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit(X, y)
    for row in X[:20]:
        values = {"x0": float(row[0]), "x1": float(row[1])}
        notebook = Notebook(clf)
        follow(notebook, values, rng, True)
        expected = clf.run({}, {name: lambda name=name, v=values: v[name] for name in values})
        assert notebook.state.guidance().spent == pytest.approx(expected.spent)
        assert notebook.state.guidance().advice.answer == expected.answer


@pytest.mark.parametrize("learner", ["forest", "cascade"])
def test_forests_and_cascades_give_advice_too(learner):
    rng = np.random.default_rng(1)
    if learner == "cascade":
        clf = fitted()
        columns = clf.problem_.columns
    else:
        X = rng.normal(size=(80, 3))
        costs = ww.Costs(tests={"x0": 1, "x1": 2, "x2": 3}, errors=20)
        clf = ww.BudgetForestClassifier(costs=costs, budget=4.0, max_trees=3, random_state=0)
        clf.fit(X, (X[:, 0] + X[:, 1] > 0).astype(int))
        columns = clf.problem_.columns
    for _ in range(5):
        values = {}
        for name, known in zip(columns, clf.problem_.schema.values, strict=True):
            values[name] = float(rng.normal()) if known is None else str(rng.choice(known))
        notebook = Notebook(clf)
        follow(notebook, values, rng, True)
        expected = clf.run({}, {name: lambda name=name, v=values: v[name] for name in columns})
        found = notebook.state.guidance()
        assert found.advice.answer == expected.answer
        assert found.spent == pytest.approx(expected.spent)


@pytest.fixture
def heart():
    return ww.Tree.from_json(json.dumps(clinic()))


def test_states(heart):
    notebook = Notebook(heart, {"age": 63.0})
    assert notebook.state.state(notebook.state.guidance().advice) == "open"
    notebook.change("order", ["scan"], None)
    assert notebook.state.state(notebook.state.guidance().advice) == "waiting"
    notebook.change("results", {"scan": "clear"}, None)
    assert notebook.state.state(notebook.state.guidance().advice) == "answered"
    notebook.change("close", "well")
    state = notebook.state
    assert state.state(state.guidance().advice) == "closed"
    assert (state.answer, state.truth, state.error_cost()) == ("well", "well", 0)


def test_a_result_of_the_advised_test_orders_what_it_commits_to(heart):
    notebook = Notebook(heart, {"age": 63.0, "scan": "spot"})
    assert list(notebook.state.guidance().slip) == ["chol", "sugar"]
    notebook.change("results", {"chol": 200}, None)
    assert notebook.state.pending == ["sugar"]
    assert notebook.state.guidance().spent == 1 + 40 + 7 + 2 + 3


def test_a_slip_has_no_test_that_can_no_longer_matter():
    """A culture is ordered with what either result of it leads to; a case that comes with its result needs one side."""
    tests = {"culture": {"price": 5.0, "delayed": True}, "crp": 3.0, "biopsy": 7.0}
    asks = {
        "culture": {"branches": [["clean"], ["grown"]], "children": [1, 4], "answer": "a", "weights": [30, 30]},
        "crp": {"threshold": 1, "children": [2, 3], "answer": "a", "weights": [20, 10]},
        "biopsy": {"threshold": 1, "children": [5, 6], "answer": "b", "weights": [10, 20]},
    }
    leaves = [
        {"answer": answer, "weights": w} for answer, *w in (("a", 20, 0), ("b", 0, 10), ("a", 10, 0), ("b", 0, 20))
    ]
    top, crp, biopsy = ({"test": name, **node} for name, node in asks.items())
    content = {
        "format": "worthwhile-tree",
        "version": 1,
        "classes": ["a", "b"],
        "columns": [
            {"name": "culture", "kind": "nominal", "values": ["clean", "grown"]},
            *({"name": name, "kind": "numeric"} for name in ("crp", "biopsy")),
        ],
        "costs": {"tests": tests, "errors": {"a": {"b": 500.0}, "b": {"a": 500.0}}},
        "nodes": [top, crp, *leaves[:2], biopsy, *leaves[2:]],
    }
    tree = ww.Tree.from_json(json.dumps(content))
    assert list(Notebook(tree).state.guidance().slip) == ["culture", "crp", "biopsy"]
    guidance = Notebook(tree, {"culture": "clean"}).state.guidance()
    assert (guidance.slip, guidance.price, guidance.spent) == ({"crp": 3.0}, 3.0, 5.0)


def test_an_unavailable_test_is_not_charged_and_orders_nothing(heart):
    notebook = Notebook(heart, {"age": 63.0, "scan": "spot"})
    notebook.change("results", {"chol": None}, None, {"chol": "haemolysed"})
    state = notebook.state
    assert state.pending == []
    assert state.guidance().spent == 41
    assert state.tests["chol"].why == "haemolysed"
    # An order that turns out to be impossible is given back; the other test pays the common price of the blood sample.
    notebook = Notebook(heart, {"age": 63.0, "scan": "spot"})
    notebook.change("order", ["chol", "sugar"], None)
    notebook.change("results", {"chol": None}, None)
    assert {line.test: line.price for line in notebook.state.guidance().ledger} == {"age": 1, "scan": 40, "sugar": 5}


def test_what_others_paid_costs_nothing(heart):
    notebook = Notebook(heart, {"age": 63.0, "scan": "spot"})
    notebook.events[0].content["already_paid"] = ["scan"]
    assert notebook.state.guidance().spent == 1


def test_undo_leaves_an_event_out(heart):
    notebook = Notebook(heart, {"age": 63.0})
    notebook.change("order", ["scan"], None)
    notebook.change("results", {"scan": "spot"}, None)
    notebook.change("undo")
    assert notebook.state.pending == ["scan"]
    notebook.change("undo")
    assert (notebook.state.pending, notebook.state.guidance().spent) == ([], 1)
    with pytest.raises(ValueError, match="nothing to undo"):
        notebook.change("undo")


def test_a_correction_keeps_the_old_value_and_charges_nothing_again(heart):
    notebook = Notebook(heart, {"age": 63.0})
    notebook.change("results", {"scan": "clear"}, None)
    notebook.change("correct", "scan", "spot", "mixed up", 2)
    state = notebook.state
    assert (state.known["scan"], state.tests["scan"].earlier, state.tests["scan"].why) == (
        "spot",
        ["clear"],
        "mixed up",
    )
    assert state.guidance().spent == 41
    notebook.change("results", {"chol": None}, None)
    notebook.change("correct", "chol", 300, "found", 4)
    assert notebook.state.guidance().spent == 41 + 9


def test_the_cap_counts_tests_that_nobody_asked_for():
    tree = ww.Tree.from_json(json.dumps(clinic() | {"cap": 50.0}))
    notebook = Notebook(tree, {"age": 63.0})
    assert notebook.state.guidance().advice.test == "scan"
    notebook.change("order", ["chol", "sugar"], None)
    found = notebook.state.guidance()  # 13 are spent; with the scan it would be 53
    assert (found.advice.test, found.spent) == (None, 13)
    assert "more than the cap of 50.00" in found.advice.reason


def test_why_not_another_test(heart):
    notebook = Notebook(heart, {"age": 63.0})
    why = {line["test"]: line["why"] for line in notebook.state.other_tests(notebook.state.guidance())}
    assert list(why) == ["chol", "sugar", "gene"]
    assert why["gene"].startswith("It costs 900.00, but answering now is expected to cost only 120.00")
    assert "later" in why["chol"]
    notebook = Notebook(ww.Tree.from_json(json.dumps(clinic(gene=50.0))), {"age": 63.0})
    gene = notebook.state.other_tests(notebook.state.guidance())[-1]
    assert gene["why"] == "It costs 50.00; the model has no use for its result from here on."


def test_values_of_json_and_of_forms(heart):
    served = ServedModel("id", "heart", 1, heart)
    assert read_result(served, "age", "63") == read_result(served, "age", 63) == 63.0
    assert read_result(served, "scan", "SPOT") == "spot"
    assert read_result(served, "scan", None) is None
    with pytest.raises(ValueError, match="is not a number"):
        read_result(served, "age", "u")
    with pytest.raises(ValueError, match="there is no test 'x'"):
        read_result(served, "x", 1)
    assert label_of(served, "SICK", "truth") == "sick"
    with pytest.raises(ValueError, match="truth: there is no class 'ill'"):
        label_of(served, "ill", "truth")
