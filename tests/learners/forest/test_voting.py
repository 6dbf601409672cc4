"""Votes of a forest: who wins, shares that agree with it, and when a case has heard enough."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from worthwhile.costs.bound_costs import BoundCosts
from worthwhile.learners.forest import voting
from worthwhile.learners.forest.voting import AnswerRule, StoppingTable, Votes, rates_for


def rule(prior, errors=None, least_cost=False):
    prior = np.array(prior, dtype=float)
    return AnswerRule(1 - np.eye(len(prior)) if errors is None else errors, prior / prior.sum(), least_cost)


def votes_of(answers, counts, k, default=0):
    """The votes of cases: answers and leaf counts by tree."""
    votes = Votes(len(answers[0]) if len(answers) else 1, rule(1 + (np.arange(k) == default)))
    for said, leaves in zip(answers, counts, strict=True):
        votes.add(np.array(said, dtype=np.int32), np.array(leaves, dtype=float), np.ones(len(said)))
    return votes


def test_most_votes_win_and_ties_go_to_more_cases_in_the_leaves():
    leaves = [[[1.0, 0.0, 0.0]], [[0.0, 5.0, 0.0]]]
    assert votes_of([[0], [1]], leaves, 3).answers().tolist() == [1]
    assert votes_of([[0], [1], [0]], [*leaves, [[1.0, 0.0, 0.0]]], 3).answers().tolist() == [0]
    assert votes_of([[2], [1]], [[[0.0] * 3]] * 2, 3).answers().tolist() == [1]  # then to the first class
    assert votes_of([], [], 3, default=2).answers().tolist() == [2]  # without a vote


def test_a_case_that_was_not_asked_about_pays_but_does_not_vote():
    votes = Votes(2, rule([3, 1]))
    votes.add(np.array([1, -1], dtype=np.int32), np.array([[0.0, 3.0], [0.0, 0.0]]), np.array([2.0, 0.0]))
    assert votes.votes.tolist() == [[0, 1], [0, 0]]
    assert votes.leads().tolist() == [1, 0]
    assert votes.prices.tolist() == [2.0, 0.0]
    half = 0.5 * (0 + 0.75) / 2
    np.testing.assert_allclose(votes.shares(), [[half / 1.5, 1 - half / 1.5], [0.75, 0.25]])


def test_leaves_and_training_cases_share_half_a_vote():
    votes = votes_of([[0], [1], [1]], [[[3.0, 1.0]], [[0.0, 2.0]], [[1.0, 1.0]]], 2)
    mixed = (0.5 + 2 / 3) / 2  # of the leaves, and of the training cases
    np.testing.assert_allclose(votes.shares(), [[(1 + 0.5 * mixed) / 3.5, (2 + 0.5 * (1 - mixed)) / 3.5]])
    weightless = votes_of([[0], [1], [1]], [[[0.0, 0.0]]] * 3, 2)
    np.testing.assert_allclose(weightless.shares(), [[(1 + 1 / 3) / 3.5, (2 + 1 / 6) / 3.5]])


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    seed=st.integers(0, 2**32),
    n_trees=st.integers(0, 6),
    k=st.integers(1, 4),
    leaves=st.sampled_from(["none", "few", "real", "huge"]),
)
def test_the_largest_share_is_that_of_the_winner(seed, n_trees, k, leaves):
    rng = np.random.default_rng(seed)
    n_cases, votes = 20, None
    draw = {
        "none": lambda: np.zeros((n_cases, k)),
        "few": lambda: rng.integers(0, 3, (n_cases, k)).astype(float),
        "real": lambda: rng.random((n_cases, k)),
        "huge": lambda: rng.choice([1e-300, 1.0, 1e15], (n_cases, k)),
    }[leaves]
    prior = rng.integers(0, 3, k) + rng.random(k)
    votes = Votes(n_cases, rule(prior))
    for _ in range(n_trees):
        votes.add(rng.integers(-1, k, n_cases).astype(np.int32), draw(), np.zeros(n_cases))
    shares = votes.shares()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares >= 0).all()
    np.testing.assert_array_equal(shares.argmax(axis=1), votes.answers())


@pytest.mark.parametrize(("number", "lead", "quits"), [(0, 0, False), (3, 3, False), (4, 3, True), (5, 2, True)])
def test_a_case_stops_when_the_remaining_trees_cannot_change_its_answer(number, lead, quits):
    votes = Votes(1, rule([1, 1]))
    votes.votes[0] = [(number + lead) // 2, (number + lead) // 2 - lead]
    assert votes.quits(number, 6, None).tolist() == [quits]


@settings(deadline=None, derandomize=True, max_examples=200)
@given(seed=st.integers(0, 2**32), k=st.integers(1, 4), rejects=st.integers(0, 2), n_trees=st.integers(0, 5))
def test_least_cost_answers_follow_the_shares_and_settle_for_good(seed, k, rejects, n_trees):
    """The answer is the cheapest one by the shares, and no further trees change an answer that is called safe."""
    rng = np.random.default_rng(seed)
    errors = np.hstack([rng.choice([0.0, 1, 5, 100], (k, k)) * (1 - np.eye(k)), rng.choice([2.0, 30], (k, rejects))])
    votes = Votes(30, rule(rng.random(k) + 0.01, errors, least_cost=True))

    def add(shares):
        votes.add(shares.argmax(axis=1).astype(np.int32), shares, np.zeros(30))

    for _ in range(n_trees):
        add(rng.dirichlet(np.full(k, 0.3), 30))
    shares, said = votes.shares(), votes.answers()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares > 0).all()
    costs = shares @ errors
    assert (costs[np.arange(30), said] <= costs.min(axis=1) + 1e-6).all()
    safe = votes.safe()
    for further in range(1, 6):
        add(np.eye(k)[rng.integers(0, k, 30)])
        kept = safe >= further
        np.testing.assert_array_equal(votes.answers()[kept], said[kept])


def test_a_safe_lead_counts_the_prices_of_the_errors():
    """Missing class 1 costs nine times as much as a false alarm: 1 in 10 is enough."""
    votes = Votes(1, rule([1, 1], np.array([[0.0, 1.0], [9.0, 0.0]]), least_cost=True))
    for _ in range(20):
        votes.add(np.zeros(1, dtype=np.int32), np.array([[1.0, 0.0]]), np.zeros(1))
    assert (votes.answers().tolist(), votes.shares()[0, 1]) == ([0], 1 / 22)
    assert votes.safe().tolist() == [1]  # 2 of 23 are less than a tenth, 3 of 24 are not


def test_rates_reach_from_all_trees_to_none():
    costs = BoundCosts.of(ww.Costs(tests={"x0": 2.0}, errors=50), ["x0"], [0, 1])
    rates = rates_for(np.array([0.0, 2.0, 2.0]), costs)
    assert rates == sorted(set(rates))
    assert {0.0, 1.0} <= set(rates)
    assert rates[-1] > 25  # an error costs as much as 25 trees
    assert rates_for(np.zeros(3), costs) == [0.0, 1.0]


def test_the_rule_of_stopping_by_hand():
    """One tree that costs 2 and turns half of the answers right: worth it where an error costs more than 4."""
    history = voting.VoteHistory(
        np.array([[0, 0, 0, 0], [0, 0, 1, 1]], dtype=np.int16),
        np.array([[0, 0, 0, 0], [1, 1, 1, 1]], dtype=np.int16),
        np.array([[-1] * 4, [0] * 4], dtype=np.int16),
        np.array([[0.0] * 4, [2.0] * 4]),
    )
    for error, stop in ((3.9, True), (4.1, False)):
        truth = np.array([0, 0, 1, 1])
        validation = voting.ValidationSet(None, truth, error * (1.0 - np.eye(2))[truth])
        table = voting.StoppingTable.of(history, validation)
        assert table.stops(1.0)[0, 0] == stop
        assert table.stops(error / 4.001)[0, 0] == 0
        assert table.stops(error / 3.999)[0, 0] == 1
        assert not table.stops(0.0).any()
        ends = history.ends(True, table.stops(1.0))
        assert ends.tolist() == [0 if stop else 1] * 4
        record = validation.record(history, 0.0, ends, 1.0)
        assert record.price + record.error_cost == pytest.approx(min(2.0, error / 2))


def test_stopping_looks_further_than_the_next_tree():
    """The second tree alone brings nothing, the third one turns everything right."""
    leaders = np.array([[0, 0], [0, 0], [0, 0], [1, 1]], dtype=np.int16)
    leads = np.array([[0, 0], [1, 1], [0, 0], [1, 1]], dtype=np.int16)
    history = voting.VoteHistory(leaders, leads, leads - 1, np.array([[0.0, 0], [1, 1], [2, 2], [3, 3]]))
    truth = np.array([1, 1])
    for error, stop in ((2.9, True), (3.1, False)):
        table = voting.StoppingTable.of(history, voting.ValidationSet(None, truth, error * (1.0 - np.eye(2))[truth]))
        assert history.ends(True, table.stops(1.0)).tolist() == [0 if stop else 3] * 2


def test_a_stopping_table_comes_back_from_json():
    history = voting.VoteHistory(
        np.array([[0, 0], [1, 0]], dtype=np.int16),
        np.array([[0, 0], [1, 1]], dtype=np.int16),
        np.array([[-1, -1], [0, 0]], dtype=np.int16),
        np.array([[0.0] * 2, [2.0] * 2]),
    )
    table = StoppingTable.of(history, voting.ValidationSet(None, np.array([0, 1]), 5 * (1.0 - np.eye(2))))
    back = StoppingTable.from_json(json.loads(json.dumps(table.to_json())), 1)
    for name, array in vars(table).items():
        np.testing.assert_array_equal(getattr(back, name), array)
    for change in ({"price": [[1]]}, {"moves": None}, {"weight": [[1, 2], [3, np.inf]]}):
        with pytest.raises(ValueError, match=f"'{next(iter(change))}'"):
            StoppingTable.from_json(table.to_json() | change, 1)
