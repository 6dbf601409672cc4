"""The figures in the sections of the report."""

import re

import numpy as np
import pandas as pd
import pytest

import worthwhile as ww
from handmade import small, tree
from report_trees import CASES, CASES_OF_SURCHARGED, capped, surcharged
from worthwhile.evaluation import sensitivity
from worthwhile.report.sections import sections
from worthwhile.tree.node_costs import node_costs
from worthwhile.wording import BY_PROBABILITIES, LEFT_OUT, amount

# Small forests spend little.
pytestmark = pytest.mark.filterwarnings("ignore:BudgetForestClassifier. budget=:UserWarning")


def test_summary(write, heart):
    words = write(heart.clf, *heart.held_out, **heart.training, sensitivity=False).words["summary"]
    report = ww.metrics.cost_report(heart.clf, *heart.held_out)
    for part in (report.total_cost, report.test_cost, report.error_cost):
        assert f"{part:.2f}" in words
    for name in ("this model (EG2)", "no test, always “", "best plain tree", "C4.5", "103 cases", "Canadian dollars"):
        assert name in words


def test_a_model_that_costs_more_than_no_test_says_so(write, heart):
    known = {"costs": heart.clf.costs.with_errors(20), "nominal": heart.clf.nominal, "columns": heart.clf.columns}
    clf = ww.C45Classifier(**known).fit(*heart.training.values())
    for model, warned in ((clf, True), (heart.clf, False)):
        words = write(model, *heart.held_out, **heart.training, sensitivity=False).words["summary"]
        assert ("Warning: on its own training cases the model costs " in words) == warned


def test_expected_and_measured_cost_are_side_by_side(write, heart):
    measured = ww.metrics.cost_report(heart.clf, *heart.held_out).total_cost
    options = {**heart.training, "sensitivity": False}
    words = write(heart.clf, *heart.held_out, **options).words["summary"]
    assert f"measured cost per case {measured:.2f}" in words
    low, high = heart.clf.expected_cost_interval_
    expected = f"expected cost per case {heart.clf.expected_cost_:.2f} Canadian dollars {LEFT_OUT}"
    assert f"{expected}; 95 % interval {low:.2f} to {high:.2f}" in words
    why = "At the first box they may differ from the expected cost per case above, which was measured on cases left out"
    assert why in write(heart.clf, *heart.held_out, **options).words["tree"]
    clf = ww.EG2Classifier(prune="cost", cross_fit=False, **heart.known).fit(*heart.training.values())
    root = node_costs(clf.tree_)[0].expected_cost
    words = write(clf, *heart.held_out, **options).words["summary"]
    assert f"expected cost per case {root:.2f} Canadian dollars {BY_PROBABILITIES}" in words


def test_costs_of_training_cases_have_no_interval(write, heart):
    X, y = heart.training.values()
    clf = ww.EG2Classifier(prune="cost", cross_fit=False, **heart.known).fit(X, y)
    words = write(clf, X, y, X_train=X, y_train=y, sensitivity=False).words["summary"]
    assert "cost on the training cases" in words
    assert "this is no estimate of what new cases cost" in words
    assert "interval" not in words.replace("there are no intervals", "")
    assert "–" not in words
    assert "expected cost" not in words  # the tree's own figure says nothing else
    words = write(heart.clf, X, y, X_train=X, y_train=y, sensitivity=False).words["summary"]
    assert f"expected cost per case {heart.clf.expected_cost_:.2f}" in words  # measured out of fold


def test_cases_are_named(write):
    X, y = [[-1, 0], [1, -1], [1, 1], [-5, 7]], ["yes", "yes", "no", "no"]
    names = ["P-1", "P-2", "P-3", "P-4"]
    for given in (names, names.__getitem__):
        assert "P-1 1.00 40.00" in write(tree(small()), X, y, case_names=given).words["cases"]
    with pytest.raises(ValueError, match="case_names has 4 names for 8 cases"):
        write(tree(small()), X * 2, y * 2, case_names=names)


def test_break_even_prices(write, heart):
    progress = []
    words = write(heart.clf, *heart.held_out, **heart.training, tell=progress.append).words["sensitivity"]
    assert len(progress) > 20
    found = {one.test: one for one in ww.evaluation.break_even(heart.clf, *heart.training.values())}
    used, unused = found["cp"], found["ca"]
    assert f"leaves the tree between {used.enters:.2f} and {used.leaves:.2f}" in words
    assert f"enters the tree between {unused.enters:.2f} and {unused.leaves:.2f}" in words
    useless = [name for name, one in found.items() if one.enters is None]
    assert set(useless) == set(re.search(r"even if free \([^)]*\): ([^.]*)\.", words).group(1).split(", "))
    assert "plus 2.10 for the group blood" in words
    assert f"Method: EG2 was trained {len(progress) + 1} times on the same 200 cases" in words


def test_break_even_prices_say_how_the_search_was_shortened(write, heart):
    clf = ww.ACTClassifier(r=2, random_state=1, **heart.known).fit(heart.X[:60], heart.y[:60])
    training = {"X_train": heart.X[:60], "y_train": heart.y[:60]}
    words = write(clf, *heart.held_out, **training, sensitivity=0.01).words["sensitivity"]
    assert "Method: ACT (with r=1, to save time) was trained" in words
    assert "To save time, these prices were found by a shorter search" in words
    assert "The search was stopped after 0.01 s." in words
    assert "Not examined because time ran out: " in words


def test_break_even_prices_by_another_learner_say_so_and_where_it_disagrees(write, heart, monkeypatch):
    monkeypatch.setattr(sensitivity, "MAX_SEARCHED", 100)
    clf = ww.ACTClassifier(r=2, random_state=1, max_leaves=2, **heart.known).fit(heart.X, heart.y)
    words = write(clf, *heart.held_out, **heart.training).words["sensitivity"]
    assert "found by ACT without look-ahead instead of ACT, so they are not exactly those of the tree above." in words
    greedy = ww.ACTClassifier(variant="paper", r=0, **heart.known).fit(heart.X, heart.y)
    apart = set(greedy.tree_.tests_used()) ^ set(clf.tree_.tests_used())
    named = re.search(r"At the current prices the two disagree on ([^:]*): for these tests, do not rely", words).group(
        1
    )
    assert apart == set(named.split(", "))
    assert (
        "Method: ACT without look-ahead instead of ACT (with variant='paper', r=0, to save time) was trained" in words
    )
    words = write(heart.clf, *heart.held_out, **heart.training, sensitivity=1.0).words["sensitivity"]
    assert "To save time" not in words  # EG2 itself is fast enough


def test_the_saving_has_an_interval(write, heart):
    words = write(heart.clf, *heart.held_out, **heart.training, sensitivity=False).words["summary"]
    found = ww.evaluation.evaluate(heart.clf, *heart.held_out, *heart.training.values())
    best = min(found.strategies[1:], key=lambda one: one.total_cost.mean)
    mean, low, high = map(amount, best.saving)
    assert f"saves {mean}" in words
    assert f"compared with the cheapest baseline: {best.name}; 95 % interval {low} to {high}".replace("-", "−") in words
    training = {"X_train": heart.held_out[0], "y_train": heart.held_out[1]}
    same = write(heart.clf, *heart.held_out, **training, sensitivity=False).words["summary"]
    assert "95 % interval" not in re.search("baseline: .*strategy", same).group(0)  # training cases have no intervals


def test_a_loss_has_an_interval_with_its_bounds_in_order(write):
    nodes = [{"test": "x", "threshold": 0, "children": [1, 2]}, {"answer": "yes"}, {"answer": "no"}]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    words = write(tree(small(nodes=nodes)), X, np.where(X[:, 0] > 0.5, "yes", "no")).words["summary"]
    low, high = re.search(
        r"costs more by .*? than the cheapest baseline: .*?; 95 % interval ([\d.]+) to ([\d.]+)", words
    ).groups()
    assert 0 < float(low) < float(high)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            {"sensitivity": False, "X_train": [[1, 1]], "y_train": ["no"]},
            "The search for break-even prices was switched off.",
        ),
        ({}, "Break-even prices need the training cases, which were not given."),
    ],
)
@pytest.mark.filterwarnings("ignore:the model was trained on these same cases")
def test_why_there_are_no_break_even_prices(write, options, reason):
    X, y = [[-1, 1], [1, -1], [1, 1], [2, -3]] * 5, ["no", "yes", "no", "yes"] * 5
    costs = ww.Costs(tests={"x0": 1, "x1": 2}, errors=10)
    clf = ww.DTMCClassifier(costs=costs).fit(X, y)
    if "X_train" in options:
        options = options | {"X_train": X, "y_train": y}
    assert write(clf, X, y, **options).words["sensitivity"].strip().endswith(reason)


def test_a_tree_written_by_hand_has_no_break_even_prices(write):
    assert "cannot be retrained" in write(tree(small()), *CASES).words["sensitivity"]


def test_spending_and_most_expensive_cases(write):
    blood = {name: {"price": 3, "group": "blood"} for name in ("x", "y")}
    costs = {"tests": blood, "groups": {"blood": 2}, "errors": [["no", "yes", 10], ["yes", "no", 40]]}
    known = tree(small(costs=costs))
    X, y = [[-1, 0], [1, -1], [1, 1], [-5, 7]], ["yes", "yes", "no", "no"]
    page = write(known, X * 3, y * 3)
    assert "x 3.00 46 % 100 %" in page.words["spending"]
    assert "blood common price of the group 2.00 31 % 100 %" in page.words["spending"]
    assert "y 1.50 23 % 50 %" in page.words["spending"]
    assert "all tests 6.50" in page.words["spending"]
    first = page.words["cases"].split("explanation")[1]
    assert first.split()[:6] == ["1", "5.00", "40.00", "45.00", "yes", "no"]
    assert "x = -1 (≤ 0): 5.00" in first
    assert "The 10 most expensive of 12 cases account for" in page.words["cases"]


# ---- forests


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_forest_has_a_budget_and_no_walk_through(write, heart, adaptive):
    forest = ww.BudgetForestClassifier(budget=20, max_trees=5, random_state=0, adaptive=adaptive, **heart.known)
    page = write(forest.fit(heart.X, heart.y), *heart.held_out, **heart.training)
    assert not {"tree", "walk", "model"} & set(page.ids)
    assert "The budget is 20.00 Canadian dollars per case." in page.words["forest"]
    assert "no single tree to show or walk through" in page.words["forest"]
    assert "tree 1 of" in page.words["cases"]
    assert "Not available for forests" in page.words["sensitivity"]


@pytest.fixture(scope="module")
def chosen_tests(heart):
    """Forests that differ only in their tests; the one in use is neither the first nor the last."""
    options = {"budget": 20, "max_trees": 5, "random_state": 0, "tests": "chosen", "sampling": "weighted"}
    forest = ww.BudgetForestClassifier(variant="paper", **options, **heart.known).fit(heart.X, heart.y)
    assert len({one.alpha for one in forest.forests_}) == 1
    assert forest._chosen not in (forest.forests_[0], forest.forests_[-1])
    return forest


def test_only_records_of_the_forest_in_use_are_shown(write, heart, chosen_tests):
    forest = chosen_tests.with_budget(chosen_tests.record_.price)
    page = write(forest, *heart.held_out)
    curve, at = forest.budget_curve(*heart.held_out), forest.forests_.index(forest._chosen)
    start = sum(len(one.curve) for one in forest.forests_[:at])
    own = curve[start : start + len(forest._chosen.curve)]
    row = r'<tr( class="model")?>\s*<th scope="row">(\d+)</th>\s*<td>([\d.]+)</td>'
    rows = re.findall(row, page.section("forest"))
    assert [(int(trees), price) for _, trees, price in rows] == [(one.trees, f"{one.price:.2f}") for one in own]
    assert [int(trees) for mark, trees, _ in rows if mark] == [len(forest.trees_)]


@pytest.mark.parametrize(("max_trees", "printed"), [(2, 10), (20, 0)])
def test_explanations_by_many_trees_are_not_printed(write, heart, max_trees, printed):
    forest = ww.BudgetForestClassifier(variant="paper", max_trees=max_trees, max_depth=2, random_state=0, **heart.known)
    cases = write(forest.fit(heart.X, heart.y), *heart.held_out).section("cases")
    assert cases.count("<summary>show steps</summary>") == 10
    assert cases.count("<details data-print>") == printed


@pytest.mark.filterwarnings("ignore:the model was trained on these same cases")
def test_which_tests_and_cases_a_forest_was_grown_on(write, heart, chosen_tests):
    words = write(chosen_tests, *heart.held_out).words["forest"]
    assert f"use only {len(chosen_tests.tests_)} of 13 tests ({', '.join(chosen_tests.tests_)})." in words
    assert "Each tree was grown on all cases, weighted by how often they were drawn." in words
    plain = ww.BudgetForestClassifier(
        variant="paper", max_trees=2, random_state=0, sampling="drawn", **heart.known
    ).fit(*heart.held_out)
    words = write(plain, *heart.held_out).words["forest"]
    assert "No budget was set." in words
    assert "The trees may use all 13 tests. Each tree was grown on cases drawn with replacement." in words
    del plain.sampling_
    assert "drawn with" not in write(plain, *heart.held_out).words["forest"]


def test_the_rate_in_use_is_shown_however_many_there_are(write, heart):
    forest = ww.BudgetForestClassifier(budget=20, max_trees=5, random_state=0, adaptive=True, **heart.known)
    forest.fit(heart.X, heart.y)
    assert len(forest._chosen.curve) > 12
    row = r'<tr class="model">\s*<th scope="row">.*?</th>\s*<td>(.*?)</td>'
    for budget in sorted({one.price for one in forest._chosen.curve if one.price <= 20})[:6]:
        cheap = forest.with_budget(budget)
        rows = re.findall(row, write(cheap, *heart.held_out).section("forest"))
        assert rows == ["" if cheap.rate_ is None else f"{cheap.rate_:.3g}"]


def test_expensive_cases_show_dates_and_unknown_values():
    days = pd.date_range("2024-01-01", periods=40)
    X = pd.DataFrame({"visit": days, "colour": ["red", "blue"] * 20})
    y = np.array(["late" if i > 19 else "early" for i in range(40)])
    clf = ww.C45Classifier(costs=ww.Costs({"visit": 1}), cross_fit=False).fit(X, y)
    found = sections(clf, X, np.where(y == "late", "early", "late"), None, None, False, str, None)["cases"]["rows"][0]
    assert re.match(r"visit = 2024-01-01 \(≤ 2024-01-20\): 1.00\n", found["explanation"])
    clf = ww.C45Classifier(costs=ww.Costs({"colour": 1}), cross_fit=False).fit(X[["colour"]], ["a", "b"] * 20)
    found = sections(clf, pd.DataFrame({"colour": ["green"] * 9}), ["b", "a", "b"] * 3, None, None, False, str, None)[
        "cases"
    ]["rows"][0]
    assert found["explanation"].startswith("colour = green: an unknown value, not charged")


def test_the_price_list_shows_groups_waits_surcharges_and_the_cap(write):
    words = write(tree(capped()), *CASES_OF_SURCHARGED).words["prices"]
    assert "lab 8.00 blood, panel wait 24 20.00 if age < 1; 3.00 if lab >= 5 age" in words
    assert "ecg 15.50 wait 2 50.00 if class sick; −5.00 after lab" in words
    assert (
        "Waiting for 20 in all costs 10.00, for 30 in all costs 60.00; in between and after that in proportion."
        in words
    )
    assert "No case pays more than 80.00 for its tests." in words
    plain = write(tree(small()), *CASES).words["prices"]
    assert "wait" not in plain
    assert "surcharges" not in plain


def test_surcharges_by_class_go_by_the_true_class(write):
    X, known = CASES_OF_SURCHARGED[0], tree(surcharged())
    y = ["sick"] * len(X)
    page = write(known, X, y)
    costs = known.total_costs(X, y)
    assert known.test_costs(X).mean() != pytest.approx(known.test_costs(X, y=y).mean())
    assert f"{costs.mean():.2f}" in page.words["summary"]
    assert f"{costs.max():.2f}" in page.words["cases"]
    assert ww.evaluation.evaluate(known, X, y).model.total_cost.mean == pytest.approx(costs.mean())


def test_trees_like_the_best_one_are_counted(write):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 5, (150, 3)).astype(float)
    y = ((X[:, 0] > 2) ^ (X[:, 1] > 1) ^ (rng.random(150) < 0.15)).astype(int)
    costs = ww.Costs(tests={"x0": 1.0, "x1": 1.1, "x2": 1.2}, errors=10)
    known = {"costs": costs, "max_depth": 2, "soft_labels": 0, "leaf_price": 0}
    clf = ww.OptimalClassifier(**known, near_optimal=0.2).fit(X, y)
    near = clf.near_optimal_
    page = write(clf, X, y, X_train=X, y_train=y, sensitivity=False)
    words = page.words["near-optimal"]
    assert near.count > 1
    assert near.headline(clf.tree_.columns[clf.tree_.nodes.test[0]]) in words
    for one in near.first_tests:
        assert f"{one.test} {one.trees} {near.share(one.trees)} {one.structures} {amount(one.cost)}" in words
    assert near.needed == ("x0", "x1")
    assert "None of them does without x0, x1." in words
    assert f"x0 {near.count} 100 % above {amount(near.limit)}" in words
    assert page.text.count('href="#near-optimal"') == 1
    clear = (X[:, 0] > 2).astype(int)
    alone = ww.OptimalClassifier(**(known | {"leaf_price": 0.1})).fit(X, clear)
    words = write(alone, X, clear, X_train=X, y_train=clear, sensitivity=False).words["near-optimal"]
    assert "No other tree costs at most 5 % more on the training cases." in words
    without = ww.OptimalClassifier(**known, near_optimal=None).fit(X, y)
    assert "near-optimal" not in write(without, X, y, X_train=X, y_train=y, sensitivity=False).text
