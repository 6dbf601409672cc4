"""Running cases with functions that fetch values: the same answers and prices as tables, and a ledger that adds up."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import worthwhile as ww
from all_learners import COSTS, LEARNERS, make
from handmade import small, tree, turney
from problems import compare
from report_trees import capped, expected, surcharged
from wildtrees import NAMES, random_case, random_content
from worthwhile.table.schema import OtherValue


class Source:
    """Functions for all tests of a case; it notes what was fetched."""

    def __init__(self, case):
        self.case, self.fetched = case, []
        self.fetch = {name: self._function(name) for name in case}

    def _function(self, name):
        def fetch():
            self.fetched.append(name)
            return self.case[name]

        return fetch


def test_turneys_example_orders_what_is_delayed_at_once():
    source = Source({"alpha": 6, "beta": 1, "delta": 3, "epsilon": 2})
    outcome = tree(turney()).run({}, source.fetch)
    assert source.fetched == ["alpha", "delta", "beta", "epsilon"]
    assert (outcome.answer, outcome.spent, outcome.probabilities) == (0, 30, {0: 1, 1: 0})
    lines = [(line.test, line.value, line.price, line.commits, line.spent) for line in outcome.ledger]
    assert lines == [
        ("alpha", 6, 5, (), 5),
        ("delta", 3, 7, ("beta", "epsilon"), 12),
        ("beta", 1, 10, (), 22),
        ("epsilon", 2, 8, (), 30),
    ]
    assert repr(outcome) == "Outcome(answer 0, 30.00 spent on alpha, delta, beta and epsilon)"
    assert str(outcome).splitlines()[1:] == [
        "delta = 3: 7.00, beta, epsilon ordered with it",
        "beta = 1: 10.00",
        "epsilon = 2: 8.00",
        "answer 0 (0 100%, 1 0%), 30.00 spent",
    ]


def test_only_what_is_needed_is_fetched():
    source = Source({"alpha": 1, "beta": 7, "delta": 3, "epsilon": 2})
    assert tree(turney()).run({}, source.fetch).spent == 15
    assert source.fetched == ["alpha", "beta"]


@pytest.mark.parametrize("delayed", [False, True])
def test_a_value_without_a_branch_is_not_charged_anywhere(delayed):
    known = tree(
        small(
            columns=[{"name": "x", "kind": "nominal", "values": ["a", "b", "c"]}, {"name": "y", "kind": "numeric"}],
            costs={"tests": {"x": {"price": 3, "delayed": delayed}, "y": 2}, "errors": 10},
            nodes=[
                {"test": "x", "branches": [["a"], ["b"]], "children": [1, 2]},
                {"answer": "no", "weights": [6, 2]},
                {"test": "y", "threshold": 0, "children": [3, 4]},
                {"answer": "yes", "weights": [0, 8]},
                {"answer": "no", "weights": [4, 0]},
            ],
        )
    )
    for value, price in (("a", 3 + 2 * delayed), ("b", 5), ("c", 2), (OtherValue("new"), 2)):
        case = {"x": value, "y": 1.0}
        outcome = known.run({}, Source(case).fetch)
        assert outcome.spent == known.test_costs(pd.DataFrame([case]))[0] == price
        assert outcome.spent == sum(line.price for line in outcome.ledger)
        assert known.next_test(case).spent == (5 if value in "ab" else 2)


def test_an_unavailable_test_is_not_charged_and_orders_nothing():
    source = Source({"alpha": 6, "beta": 1, "delta": None, "epsilon": 2})
    outcome = tree(turney()).run({}, source.fetch)
    assert source.fetched[:2] == ["alpha", "delta"]
    assert outcome.spent == tree(turney()).test_costs(pd.DataFrame([source.case]).astype({"delta": object}))[0] == 25
    late = tree(turney()).run({}, Source({"alpha": 6, "beta": None, "delta": 3, "epsilon": 2}).fetch)
    assert [(line.test, line.price, line.commits) for line in late.ledger][1:3] == [
        ("delta", 7, ("epsilon",)),  # beta was ordered without a result, and is not paid
        ("beta", 0, ()),
    ]


def test_a_value_that_the_tree_does_not_know_orders_nothing():
    source = Source({"alpha": 6, "beta": 1, "delta": OtherValue("eleven"), "epsilon": 2})
    outcome = tree(turney()).run({}, source.fetch)
    assert [(line.test, line.price, line.commits) for line in outcome.ledger] == [
        ("alpha", 5, ()),
        ("delta", 0, ()),
        ("beta", 10, ()),
        ("epsilon", 10, ()),
    ]
    assert repr(outcome) == "Outcome(answer 0, 25.00 spent on alpha, delta, beta and epsilon)"


def test_a_function_may_say_that_there_is_no_value():
    def lost():
        raise LookupError("the sample was lost")

    outcome = tree(small()).run({}, {"x": lambda: {}["x"], "y": lost})
    assert [line.note for line in outcome.ledger] == ["KeyError: 'x'", "LookupError: the sample was lost"]
    assert (outcome.spent, repr(outcome)) == (0, "Outcome(answer no, 0.00 spent on no test)")
    assert str(outcome).splitlines()[1] == "y: unavailable (LookupError: the sample was lost)"
    assert outcome.error_cost == 20
    for value in (None, float("nan"), pd.NA):
        assert tree(small()).run({"y": 1}, {"x": lambda value=value: value}).ledger[-1].value is None


def test_other_errors_are_passed_on_with_the_name_of_the_test():
    def broken():
        raise ConnectionError("no route")

    with pytest.raises(ConnectionError, match="no route") as caught:
        tree(small()).run({}, {"x": broken, "y": broken})
    assert caught.value.__notes__ == ["while fetching the value of the test 'x'"]
    with pytest.raises(ValueError, match="the test 'x' needs a number, got 'high'"):
        tree(small()).run({}, {"x": lambda: "high", "y": broken})


def test_a_test_without_a_function_is_refused_before_anything_is_paid():
    source = Source({"x": 1})
    with pytest.raises(ValueError, match="fetch has no function for the test 'y', which may be needed") as caught:
        tree(small()).run({}, source.fetch)
    assert "fetch has: 'x'" in str(caught.value)
    assert source.fetched == []
    assert tree(small()).run({"x": 0}, {}).answer == "no"  # nothing else can be asked for
    assert tree(small()).run({"y": None}, source.fetch).answer == "yes"
    with pytest.raises(ValueError, match="fetch has a function for 'z', which is not a test; valid: 'x', 'y'"):
        tree(small()).run({}, {"z": float})
    with pytest.raises(ValueError, match="fetch must have a function for the test 'x', got 3"):
        tree(small()).run({}, {"x": 3})
    with pytest.raises(TypeError, match="fetch must be a mapping of test to function"):
        tree(small()).run({}, [float])
    with pytest.raises(ValueError, match="there is no test 'z'"):
        tree(small()).run({"z": 1}, source.fetch)


def test_known_values_come_first_in_the_ledger():
    known = pd.Series({"epsilon": 2, "delta": 3, "beta": None}, dtype=object)
    outcome = tree(turney()).run(known, {"alpha": lambda: 6})
    assert [(line.test, line.price, line.given) for line in outcome.ledger] == [
        ("beta", 0, True),
        ("epsilon", 10, True),
        ("delta", 5, True),
        ("alpha", 5, False),
    ]
    assert str(outcome.ledger[1]) == "epsilon = 2: 10.00 (given)"
    assert outcome.spent == 20


@compare(70)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]))
@example(615, 0.3)  # a value without a branch at the first of two nodes that ask for its test
def test_a_run_pays_what_a_table_pays(seed, missing):
    rng = np.random.default_rng(seed)
    known, cases = tree(random_content(rng)), [random_case(rng, missing) for _ in range(4)]
    table = pd.DataFrame(cases).astype({n: float if n[0] == "n" else object for n in NAMES})
    answers, prices, shares = known.predict(table), known.test_costs(table), known.predict_proba(table)
    for row, case in enumerate(cases):
        outcome = known.run({}, Source(case).fetch)
        assert outcome.answer == answers[row]
        assert outcome.spent == pytest.approx(prices[row])
        assert sum(line.price for line in outcome.ledger) == pytest.approx(outcome.spent)
        spent = [line.spent for line in outcome.ledger]
        # What was ordered with a delayed test is taken back if it turns out to be unavailable, or without a branch.
        assert spent == pytest.approx(sorted(spent)) or {None, "c", "new"} & set(case.values())
        assert list(outcome.probabilities.values()) == pytest.approx(shares[row].tolist())


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_runs(learner):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(120, 4)).astype(float)
    y = ((X[:, 0] > 2) ^ (X[:, 2] > 3)).astype(int)
    clf = make(learner, costs=COSTS).fit(X, y)
    for row in range(0, 120, 24):
        case = {f"x{j}": value for j, value in enumerate(X[row])}
        outcome = clf.run({}, Source(case).fetch)
        assert outcome.answer == clf.predict(X[[row]])[0]
        assert outcome.spent == pytest.approx(clf.test_costs(X[[row]])[0])
        assert clf.explain(case).answer == outcome.answer
    absent = clf.run({}, Source(dict.fromkeys(case)).fetch)
    assert absent.spent == 0


def test_a_forest_says_what_it_can():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(120, 4)).astype(float)
    y = ((X[:, 0] > 2) ^ (X[:, 2] > 3)).astype(int)
    clf = make(ww.BudgetForestClassifier, costs=COSTS).fit(X, y)
    advice = clf.next_test({})
    assert advice.stop_cost == pytest.approx(min(60 * (1 - y.mean()), 90 * y.mean()))
    assert advice.go_on_cost is advice.gain is None
    assert "Tree 1 of 5 asks for it, 0 of 5 trees have voted" in advice.reason
    assert "The cost of going on is unknown" in advice.reason
    told = clf.explain({f"x{j}": value for j, value in enumerate(X[0])})
    assert {step.tree for step in told.steps} == set(range(5))
    assert told.steps[-1].spent == pytest.approx(told.spent)
    assert told.why.startswith("5 of 5 trees have voted, none is left; the answer is expected to cost ")
    shares, answer = np.array(list(told.probabilities.values())), told.answer
    assert told.error_cost == pytest.approx(shares @ np.array([[0, 60.0], [90.0, 0]])[:, answer])
    assert clf.next_test({"x0": None}).unavailable == ("x0",)
    settled = make(ww.BudgetForestClassifier, variant="paper", costs=COSTS, adaptive="settled").fit(X, y)
    reasons = {settled.explain({f"x{j}": v for j, v in enumerate(row)}).why.split(";")[0] for row in X}
    assert any(f"{n} of 5 trees have voted, the others are not needed" in reasons for n in (2, 3, 4))


def test_dates_are_shown_as_dates():
    X = pd.DataFrame({"visit": pd.date_range("2024-01-01", periods=40)})
    clf = ww.C45Classifier(costs=ww.Costs({"visit": 1}), cross_fit=False).fit(X, [i < 20 for i in range(40)])
    for value in ("2024-02-01", 19754.0, X["visit"][31]):
        assert str(clf.run({}, {"visit": lambda value=value: value})).startswith("visit = 2024-02-01: 1.00")
        assert str(clf.explain({"visit": value})).startswith("visit = 2024-02-01 (> 2024-01-20): 1.00")


CASE = {"screen": "no", "lab": 6, "dye": "reaction", "age": 0.5, "ecg": 1}


def test_the_ledger_says_what_was_charged_and_why():
    outcome = tree(surcharged()).run({}, {name: lambda name=name: CASE[name] for name in CASE})
    assert str(outcome).splitlines() == [
        "screen = no: 8.00",
        "lab = 6: 63.10 (age < 1: 20.00; lab >= 5: 3.00; wait 24: 30.00), age, dye ordered with it",
        "age = 0.5: 1.00",
        "dye = reaction: 310.00 (reaction and class sick: 300.00)",
        "answer sick (well 0%, sick 100%), 382.10 spent",
    ]


@pytest.mark.parametrize("content", [surcharged, expected, capped])
@pytest.mark.parametrize("screen", ["no", "yes"])
def test_the_ledger_adds_up_to_what_was_spent(content, screen):
    case = CASE | {"screen": screen, "lab": 2}  # dye is ordered, but not asked for: its surcharge is expected
    outcome = tree(content()).run({}, {name: lambda name=name: case[name] for name in case})
    assert sum(entry.price for entry in outcome.ledger) == pytest.approx(outcome.spent)
    assert outcome.spent > 0


def test_a_cap_ends_a_case():
    known = tree(capped())
    advice = known.next_test({"screen": "no"})
    assert (advice.test, advice.answer, advice.spent) == (None, "sick", 8)
    assert advice.reason.startswith("lab is not done, because with it the tests could cost more than the cap of 80.00;")
    rows = pd.DataFrame([CASE])
    assert known.predict(rows).tolist() == ["sick"]
    assert known.test_costs(rows).tolist() == [8]
    assert tree(surcharged()).test_costs(rows).tolist() == [pytest.approx(382.1)]


def test_a_node_may_commit_without_a_price_of_waiting():
    content = surcharged()
    del content["costs"]["waiting"]
    known, rows = tree(content), pd.DataFrame([CASE | {"lab": 2, "dye": "calm"}])
    assert known.next_test({"screen": "no"}).commits == ("dye",)
    assert known.test_costs(rows).tolist() == [pytest.approx(8 + 1 + 8 + 20 + 2.1 + 10)]
    assert known.run({}, {name: lambda name=name: rows[name][0] for name in CASE}).ledger[-1].test == "dye"
