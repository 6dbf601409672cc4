"""CascadeClassifier: large tables, limits, progress."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import worthwhile as ww
from cascade_problems import COSTS, NAMES, cases, fitted
from worthwhile.evaluation.metrics import tree_size
from worthwhile.evaluation.sensitivity import break_even
from worthwhile.learners import base, deadline
from worthwhile.learners.cascade import classifier, growing
from worthwhile.learners.cascade.classifier import spread


@pytest.mark.parametrize("given", [{}, {"budget": 5.0}, {"weighting": "instance"}])
@pytest.mark.parametrize("constant", [57.0, -300.0])
def test_what_a_class_costs_whatever_the_answer_changes_no_decision(given, constant, tmp_path):
    X, y = cases(300, seed=3)
    new = cases(100, seed=4)[0]
    labels = np.unique(y).tolist()
    found = []
    for more in (0.0, constant):
        errors = {t: {a: (t != a) * 90.0 + (t == labels[0]) * more for a in labels} for t in labels}
        costs = ww.Costs(tests=COSTS.tests, groups=COSTS.groups, errors=errors)
        found.append(ww.CascadeClassifier(costs=costs, n_trees=10, random_state=0, columns=NAMES, **given).fit(X, y))
    plain, raised = found
    assert len(plain.stages_) > 1
    assert raised.predict(new).tolist() == plain.predict(new).tolist()
    assert raised.test_costs(new).tolist() == plain.test_costs(new).tolist()
    assert raised.expected_cost_ == pytest.approx(plain.expected_cost_ + constant * (y == labels[0]).mean())
    if not given.get("weighting"):
        for known in ({}, dict(zip(NAMES, new[0].tolist(), strict=True))):
            one, other = plain.next_test(known), raised.next_test(known)
            assert other.test == one.test
            assert other.stop_cost == pytest.approx(one.stop_cost + constant * one.probabilities[labels[0]])
    raised.save(tmp_path / "raised.json")
    loaded = ww.load(tmp_path / "raised.json")
    assert loaded.predict(new).tolist() == raised.predict(new).tolist()
    assert loaded.next_test({}) == raised.next_test({})


@pytest.mark.parametrize("n", [0, 1, 2, 7, 20])
def test_spreading_covers_everything_once_and_the_ends_first(n):
    assert sorted(spread(n)) == list(range(n))


def test_the_number_of_threads_does_not_matter():
    X, _ = cases(50, seed=2)
    one, two = (fitted(n_jobs=n).predict_proba(X) for n in (1, 2))
    assert one.tolist() == two.tolist()


def test_of_many_cases_a_sample_chooses_the_sets(monkeypatch):
    monkeypatch.setattr(classifier, "MANY_CASES", 200)
    monkeypatch.setattr(classifier, "MOST_CASES", 350)
    told = []
    clf = fitted(n=400, callback=lambda progress: told.append(progress) and None)
    assert len(clf.stages_) > 1
    assert told[-1].done == told[-1].total
    assert all(a.cost >= b.cost for a, b in itertools.pairwise(told))
    X, y = cases(2000, seed=9)
    assert clf.total_costs(X, y).mean() == pytest.approx(clf.expected_cost_, rel=0.3)
    monkeypatch.setattr(classifier, "AT_ONCE", 64)  # walked in parts
    whole = clf.predict_proba(X[:200])
    assert whole.tolist() == np.vstack([clf.predict_proba(part) for part in np.split(X[:200], 4)]).tolist()


def test_a_callback_ends_the_fit_with_what_there_is():
    clf = fitted(callback=lambda progress: progress.done == 3)
    assert clf.stopped_ == "callback"
    assert len(clf.stages_) <= 3
    assert clf.predict(cases(10)[0]).shape == (10,)


def test_a_time_limit_has_as_many_cases_as_it_can_afford(monkeypatch):
    now, used = [100.0], []
    real = growing.fit_model

    def slow(own, *recipe):
        now[0] += 1e-4 * len(own.classes)
        used.append(len(own.classes))
        return real(own, *recipe)

    clock = SimpleNamespace(monotonic=lambda: now[0])
    for module in (base, deadline, growing):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(growing, "fit_model", slow)
    found = {}
    for limit in (1.0, 3.0, 100.0):
        now[0] = 100.0
        used.clear()
        clf = fitted(n=3000, time_limit=limit, n_trees=20)
        found[limit] = max(used), clf.stopped_, len(clf.stages_) > 1
        assert now[0] - 100 <= limit
    assert found[1.0][0] <= found[3.0][0] < found[100.0][0] == 3000
    assert found[1.0][1:] == found[3.0][1:] == ("time limit", True)
    assert found[100.0][1:] == ("done", True)


def test_a_time_limit_ends_the_fit():
    with pytest.warns(UserWarning, match="before any model of a test with a price; allow more time"):
        clf = fitted(time_limit=1e-6)
    assert clf.stopped_ == "time limit"
    assert clf.stages_ == [("free",)]


def test_an_interrupt_keeps_the_models_so_far():
    def interrupt(progress):
        if progress.done == 4:
            raise KeyboardInterrupt

    clf = ww.CascadeClassifier(costs=COSTS, columns=NAMES, n_trees=5, random_state=0, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*cases())
    assert clf.stopped_ == "interrupted"
    assert clf.predict(cases(10)[0]).shape == (10,)


def test_an_interrupt_of_the_validation_keeps_the_cascade(monkeypatch):
    def interrupt(*problem):
        raise KeyboardInterrupt

    monkeypatch.setattr(growing, "cross_fitted", interrupt)
    clf = ww.CascadeClassifier(costs=COSTS, columns=NAMES, n_trees=12, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(*cases())
    assert clf.stopped_ == "interrupted"
    assert len(clf.stages_) > 1


def test_if_time_ends_among_the_models_of_many_cases_those_of_few_are_kept(monkeypatch):
    monkeypatch.setattr(classifier, "MANY_CASES", 250)
    firsts = []

    def first_of_many(progress):
        firsts.append(progress.total)
        return progress.total > firsts[0]

    clf = fitted(n=500, callback=first_of_many)
    assert clf.stopped_ == "callback"
    assert len(clf.stages_) > 1


def test_base_must_be_a_model_with_probabilities():
    with pytest.raises(ValueError, match="invalid base='tree'; it must be 'forest', 'boosting', 'chosen'"):
        fitted(base="tree")
    with pytest.raises(ValueError, match="invalid base=3"):
        fitted(base=3)


def test_break_even_prices_need_a_tree(clf):
    X, y = cases(40)
    with pytest.raises(ValueError, match="need a learner of a single tree; CascadeClassifier learns several"):
        break_even(clf, X, y)
    trees = [stage.model.trees for stage in clf._cascade.stages]
    assert tree_size(clf) == sum(1 if own is None else len(own.feature) for own in trees) > len(trees)


def test_a_summary_for_notebooks_lists_the_sets(clf):
    page = clf._repr_html_()
    assert f"{len(clf.stages_)} sets of tests" in page
    assert "expected cost of a new case" in page
