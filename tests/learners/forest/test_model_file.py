"""Files of forests: all trees and curves come back, broken files are refused by name."""

import json
import pickle

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners.forest.model_file import Forest, fits
from worthwhile.learners.forest.voting import BudgetRecord

# Budgets of all sizes are tried here.
pytestmark = pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=:UserWarning")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)).round(2)
Y = (X[:, 0] + X[:, 1] + 0.7 * X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=200) > 0).astype(int)
FRESH = RNG.normal(size=(80, 4)).round(2)
FRESH_Y = (FRESH[:, 0] + FRESH[:, 1] > 0).astype(int)
PRICES = ww.Costs(tests={"x0": 2.625, "x1": 2.5, "x2": 2.375, "x3": 2.5}, errors=50)
modes = pytest.mark.parametrize("adaptive", [False, "settled", True])


def make(**parameters):
    known = {"costs": PRICES, "max_trees": 12, "alpha": [0, 6, 20], "random_state": 3}
    return ww.BudgetForestClassifier(variant="paper", **(known | parameters))


def same(one, other):
    """That two forests answer, and charge, alike."""
    np.testing.assert_array_equal(one.predict(FRESH), other.predict(FRESH))
    np.testing.assert_array_equal(one.predict_proba(FRESH), other.predict_proba(FRESH))
    np.testing.assert_array_equal(one.test_costs(FRESH), other.test_costs(FRESH))


@modes
@pytest.mark.parametrize("budget", [None, 8])
def test_files_and_pickles_keep_all_forests(adaptive, budget, tmp_path):
    clf = make(adaptive=adaptive, budget=budget).fit(X, Y)
    clf.save(tmp_path / "forest.json")
    for back in (ww.load(tmp_path / "forest.json"), pickle.loads(pickle.dumps(clf))):
        same(clf, back)
        assert back.record_ == clf.record_
        assert back.budget_curve(FRESH, FRESH_Y) == clf.budget_curve(FRESH, FRESH_Y)
        same(clf.with_budget(5), back.with_budget(5))
        with pytest.raises(ValueError, match="invalid"):
            back.with_budget("5")
    small = clf.with_budget(4)
    small.save(tmp_path / "small.json")
    same(small, ww.load(tmp_path / "small.json"))


def test_validation_cases_are_not_kept(tmp_path):
    clf = make(validation=(FRESH, FRESH_Y)).fit(X, Y)
    clf.save(tmp_path / "forest.json")
    back = ww.load(tmp_path / "forest.json")
    assert back.validation is None
    same(clf, back)


def broken(content, path, value):
    """A copy of a JSON object with another value somewhere."""
    content = json.loads(json.dumps(content))
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["forest"], [], "'forest' of the model must be an object"),
        (["forest", "forests"], [], "must not be empty"),
        (["forest", "class_weights"], [1.0], "'class_weights' of the forest must be 2 numbers from 0 to .*, one per"),
        (["forest", "class_weights", 0], -1.0, "'class_weights' of the forest must be 2 numbers"),
        (["forest", "problem", "extra"], 1, "'problem' of the forest has the unknown field 'extra'"),
        (["forest", "forests", 0, "alpha"], "x", "'alpha' of forest 0 must be a number"),
        (["forest", "forests", 0, "trees", 1], {}, "tree 1 of forest 0 must be a list of nodes"),
        (["forest", "forests", 0, "trees", 1], [{"answer": 9}], "tree 1 of forest 0: node 0 answers 9"),
        (["forest", "forests", 0, "curve"], [], "'curve' of forest 0"),
        (["forest", "forests", 0, "curve", 1], [1, 2], "a row of 'curve' of forest 0 must be"),
        (["forest", "forests", 0, "extra"], 1, "forest 0 has the unknown field 'extra'"),
        (["chosen", "forest"], 9, "'chosen' of the model names record .* of forest 9"),
        (["chosen"], None, "'chosen' of the model must be an object"),
        (["limit"], "x", "'limit' of the model must be"),
    ],
)  # fmt: skip
def test_broken_files_are_refused_by_name(path, value, words, tmp_path):
    make(alpha=[0], max_trees=2).fit(X, Y).save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps(broken(content, path, value)))
    with pytest.raises(ValueError, match=words):
        ww.load(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["states", "price"], [[1]], "'price' of the states of a forest must be numbers of shape"),
        (["states", "cost", 0, 0], None, "cost"),
        (["curve", 0, 4], None, "must name a rate"),
        (["curve", -1, 1], 3.0, "must end with 0 trees"),
    ],
)
def test_broken_rules_of_stopping_are_refused_by_name(path, value, words, tmp_path):
    make(alpha=[0], max_trees=2, adaptive=True).fit(X, Y).save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps(broken(content, ["forest", "forests", 0, *path], value)))
    with pytest.raises(ValueError, match=words):
        ww.load(tmp_path / "b.json")


def many_columns():
    rng = np.random.default_rng(1)
    wide = rng.normal(size=(900, 12))
    return wide, (wide[:, 3] + wide[:, 7] > 0).astype(int), ww.Costs(tests={f"x{i}": 1.0 for i in range(12)})


def test_chosen_tests_are_kept(tmp_path):
    wide, y, costs = many_columns()
    clf = ww.BudgetForestClassifier(variant="paper", tests="chosen", costs=costs, random_state=0, max_trees=6).fit(
        wide, y
    )
    small = clf.with_budget(2)
    small.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    assert again.tests_ == small.tests_
    assert [forest.tests for forest in again.forests_] == [forest.tests for forest in clf.forests_]
    np.testing.assert_array_equal(again.predict(wide), small.predict(wide))
    text = (tmp_path / "model.json").read_text().replace('"tests": ["x', '"tests": ["y', 1)
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(ValueError, match=r"'tests' of forest \d+ names 'y\d+', which is not a column"):
        ww.load(tmp_path / "model.json")


def test_what_a_model_says_of_its_growing_is_kept(tmp_path):
    clf = make(alpha=0, sampling="weighted", time_limit=1e-9).fit(X, Y)
    clf.save(tmp_path / "model.json")
    again = ww.load(tmp_path / "model.json")
    assert (again.sampling_, again.stopped_) == ("weighted", "time limit")


@pytest.mark.parametrize("n_answers", [1, 10])
def test_a_tree_of_a_forest_that_gives_a_reject_answer_is_refused(n_answers, tmp_path):
    """Trees of a forest vote for classes: a vote for anything else would be counted outside of the array."""
    rejects = {f"unknown{i}": 5.0 for i in range(n_answers)}
    costs = ww.Costs(errors={0: {1: 50.0} | rejects, 1: {0: 50.0} | rejects})
    make(alpha=0, max_trees=2, costs=costs).fit(X, Y).save(tmp_path / "forest.json")
    content = json.loads((tmp_path / "forest.json").read_text())
    assert f"unknown{n_answers - 1}" in json.dumps(content["forest"]["problem"])
    for tree in content["forest"]["forests"][0]["trees"]:
        next(node for node in tree if "answer" in node)["answer"] = f"unknown{n_answers - 1}"
    (tmp_path / "forest.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"tree 0 of forest 0: .*'unknown{n_answers - 1}'"):
        ww.load(tmp_path / "forest.json")


def forest_of(prices, rates=None):
    """A forest whose parts cost this much."""
    records = [BudgetRecord(0.0, n, price, 0.0, 0.0) for n, price in enumerate(prices)]
    if rates is not None:
        records = [BudgetRecord(0.0, 3, p, 0.0, 0.0, rate) for p, rate in zip(prices, rates, strict=True)]
        records.append(BudgetRecord(0.0, 0, 0.0, 0.5, 0.0))
    return Forest(0.0, (), tuple(records), stopping=None if rates is None else object())


def test_as_many_trees_as_the_budget_allows():
    forest = forest_of([0.0, 2.0, 3.0, 5.0])
    assert [forest.within(budget).trees for budget in (0, 1.9, 2, 3.5, 5, None)] == [0, 0, 1, 2, 3, 3]
    assert forest.within(3.0 - 1e-12).trees == 2  # up to rounding


def test_the_lowest_rate_that_the_budget_allows():
    forest = forest_of([9.0, 6.0, 3.0], rates=[0.0, 1.0, 4.0])
    assert [forest.within(budget).rate for budget in (10, 6, 3, 1, None)] == [0.0, 1.0, 4.0, None, 1.0]


def test_prices_fit_into_a_budget_up_to_rounding():
    assert fits(0.1 + 0.2, 0.3)
    assert fits(1e9, None)
    assert not fits(3.0001, 3.0)
    assert not fits(1e-12, 0.0)


@pytest.mark.parametrize(("name", "value"), [("temperature", 0), ("prior", 1.5), ("prior", -0.1)])
def test_smoothing_in_a_file_must_make_sense(tmp_path, name, value):
    clf = ww.BudgetForestClassifier(max_trees=2, random_state=0).fit(np.arange(20.0)[:, None], np.arange(20) > 9)
    path = tmp_path / "model.json"
    clf.save(path)
    content = json.loads(path.read_text())
    assert {"temperature", "prior"} <= set(content)
    path.write_text(json.dumps({**content, name: value}))
    with pytest.raises(ValueError, match=f"'{name}' of the model must be a number"):
        ww.load(path)
