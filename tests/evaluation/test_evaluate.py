"""What a model costs against simple ways to decide, and learners against each other."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from worthwhile.evaluation import baselines as baselines_module
from worthwhile.evaluation import intervals
from worthwhile.evaluation.evaluate import Done, cross_compare, evaluate
from worthwhile.evaluation.intervals import bootstrap

COSTS = ww.Costs(
    tests={"x0": ww.Test(4.0, group="g"), "x1": ww.Test(6.0, group="g"), "x2": ww.Test(1.0, requires=("x0",))},
    groups={"g": 3.0},
    errors={"a": {"b": 20.0}, "b": {"a": 30.0}},
)


def problem(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, "a", "b")
    return X, y


@pytest.fixture(scope="module")
def model():
    X, y = problem()
    return ww.DTMCClassifier(costs=COSTS).fit(X, y)


def test_the_models_costs_are_those_of_the_metrics(model):
    X, y = problem(seed=1)
    X_train, y_train = problem()
    found = evaluate(model, X, y, X_train, y_train, name="mine")
    standard = COSTS.standard_cost(np.concatenate([y_train, y]))
    report = ww.metrics.cost_report(model, X, y, standard)
    way = found.model
    assert way.name == "mine"
    assert (way.test_cost.mean, way.error_cost.mean) == pytest.approx((report.test_cost, report.error_cost))
    assert way.total_cost.mean == pytest.approx(report.total_cost)
    assert (way.error_rate, way.normalized) == pytest.approx((report.error_rate, report.normalized))
    assert found.standard_cost == pytest.approx(standard)
    assert found.note == "The others learned from 200 other cases."
    for other in found.ways[1:]:
        assert other.saving.mean == pytest.approx(other.total_cost.mean - way.total_cost.mean)


def test_the_three_other_ways(model):
    X, y = problem(seed=1)
    X_train, y_train = problem()
    _, none, everything, c45 = evaluate(model, X, y, X_train, y_train).ways
    counts = {label: int((y_train == label).sum()) for label in "ab"}
    cheapest = min("ab", key=lambda answer: sum(counts[t] * COSTS.errors[t][answer] for t in "ab"))
    assert none.name == f"no test, always “{cheapest}”"
    assert none.test_cost.mean == 0
    assert none.error_cost.mean == pytest.approx(np.mean([COSTS.errors[t][cheapest] for t in y]))
    assert everything.test_cost.mean == pytest.approx(COSTS.total_price())
    plain = ww.C45Classifier(costs=COSTS).fit(X_train, y_train)
    assert c45.total_cost.mean == pytest.approx(plain.total_costs(X, y).mean())
    candidates = [
        plain,
        ww.C45Classifier(costs=COSTS.with_errors(COSTS.errors), prune="cost", answer="least-cost"),
        ww.C45CSClassifier(costs=COSTS),
    ]
    free = ww.Costs(errors=COSTS.errors)
    costs = [c.set_params(costs=free).fit(X_train, y_train).total_costs(X, y).mean() for c in candidates]
    assert any(everything.error_cost.mean == pytest.approx(cost) for cost in costs)


def test_a_missing_test_is_not_paid_for_where_all_tests_are_done():
    X = np.array([[1.0, 2.0, 3.0], [np.nan, 2.0, np.nan], [np.nan, np.nan, 3.0], [np.nan] * 3])
    prices = baselines_module._full_prices(COSTS, {"columns": ("x0", "x1", "x2")}, X)
    # All; x1 and the group; x2 with x0, which it requires, and the group; nothing.
    assert prices.tolist() == [14.0, 9.0, 8.0, 0.0]


def test_without_training_cases_the_others_are_cross_validated(model):
    X, y = problem(seed=1)
    found = evaluate(model, X, y)
    assert found.note == "The others were cross-validated on these cases."
    assert found.model.total_cost.mean == pytest.approx(model.total_costs(X, y).mean())
    # In the order of the cases: differences are paired.
    outcomes = baselines_module.cross_baselines(
        COSTS, {"columns": ("x0", "x1", "x2"), "nominal": []}, X, y, np.random.default_rng(0)
    )
    for outcome in outcomes:
        assert outcome.tests.shape == outcome.errors.shape == (200,)
        assert set(outcome.errors[~outcome.wrong]) == {0.0}
        assert set(outcome.errors[outcome.wrong & (y == "a")]) <= {20.0}
        assert set(outcome.errors[outcome.wrong & (y == "b")]) <= {30.0}
    on_own = evaluate(model, X, y, X, y)
    assert on_own.note == "The others learned from these very cases."


def test_frames_pipelines_trees_and_forests_are_evaluated_too(model):
    pandas = pytest.importorskip("pandas")
    X, y = problem(seed=1)
    frame = pandas.DataFrame(X, columns=["x0", "x1", "x2"])
    known = evaluate(model, X, y).rows()
    assert evaluate(model.tree_, frame, y).rows() == known
    fitted = ww.DTMCClassifier(costs=COSTS).fit(pandas.DataFrame(problem()[0], columns=frame.columns), problem()[1])
    assert evaluate(fitted, frame, y).rows() == known
    pipe = make_pipeline(FunctionTransformer(), ww.DTMCClassifier(costs=COSTS)).fit(*problem())
    assert evaluate(pipe, X, y, *problem()).rows() == evaluate(model, X, y, *problem()).rows()
    forest = ww.BudgetForestClassifier(costs=COSTS, budget=20, max_trees=4, random_state=0).fit(*problem())
    assert evaluate(forest, X, y).model.test_cost.mean <= 25


def test_answers_that_are_no_class():
    costs = ww.Costs(errors={"a": {"b": 10, "unknown": 1}, "b": {"a": 10, "unknown": 1}})
    X, y = problem()
    clf = ww.DTMCClassifier(costs=costs, max_depth=1).fit(X * 0, y)
    found = evaluate(clf, X * 0, y, X * 0, y)
    assert (found.model.reject_rate, found.model.error_rate, found.model.total_cost.mean) == (1.0, 0.0, 1.0)
    assert found.ways[1].name == "no test, always “unknown”"
    assert "rejected" in str(found)


def test_the_text_and_the_rows(model):
    X, y = problem(seed=1)
    found = evaluate(model, X, y)
    text = str(found)
    assert text.startswith("Cost per case on 200 cases, with 95% intervals\nway to decide")
    assert max(map(len, text.splitlines())) <= 100
    assert f"The model saves {found.ways[3].saving.mean:.2f} per case" in text
    rows = found.rows()
    assert [row["way"] for row in rows] == [way.name for way in found.ways]
    assert rows[1]["saving_low"] == found.ways[1].saving.low


def test_training_cases_without_classes_are_refused(model):
    X, y = problem()
    with pytest.raises(ValueError, match="X_train and y_train belong together"):
        evaluate(model, X, y, X_train=X)


def test_the_bootstrap_is_that_of_the_mean():
    rng = np.random.default_rng(0)
    values = rng.choice([0.0, 1.0, 50.0], size=(400, 1), p=[0.5, 0.3, 0.2])
    draws = bootstrap(values, rng)
    assert draws.shape == (intervals.DRAWS, 1)
    assert draws.mean() == pytest.approx(values.mean(), rel=0.02)
    assert draws.std() == pytest.approx(values.std() / 20, rel=0.1)
    plain = np.array([rng.choice(values[:, 0], 400).mean() for _ in range(2000)])
    assert np.quantile(draws, [0.025, 0.975]) == pytest.approx(np.quantile(plain, [0.025, 0.975]), rel=0.05)


def test_a_million_cases_take_no_longer_than_a_thousand():
    values = np.tile(np.array([[0.0, 1.0], [2.0, 50.0]]), (500_000, 1))
    draws = bootstrap(values, np.random.default_rng(0))
    assert draws.mean(axis=0) == pytest.approx([1.0, 25.5], rel=0.01)


# ---- several learners


def known(**more):
    return {"costs": COSTS, **more}


def test_learners_meet_on_the_same_folds():
    X, y = problem()
    told = []
    twins = {
        "one": ww.DTMCClassifier(**known()),
        "two": ww.DTMCClassifier(**known()),
        "c45": ww.C45Classifier(**known()),
    }
    found = cross_compare(twins, X, y, folds=4, repeats=2, tell=told.append)
    by_name = {standing.name: standing for standing in found.standings}
    assert by_name["one"].folds == by_name["two"].folds
    assert len(by_name["one"].folds) == 8
    assert found.standings[-1].name == "c45"
    assert found.standings[0].against_best is None
    twin = found.standings[1].against_best
    assert (twin.difference, twin.t_test, twin.wilcoxon) == (0.0, 1.0, 1.0)
    assert "not significantly dearer: two" in found.note or "not significantly dearer: one" in found.note
    assert told[0] == Done(0, 24)
    assert told[-1] == Done(24, 24)
    assert len(told) == 25


def test_folds_are_held_out():
    X, y = problem(60)
    found = cross_compare({"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier(**known())}, X, y, folds=60)
    one = []
    for i in range(60):
        rest = np.arange(60) != i
        clf = ww.C45Classifier(**known()).fit(X[rest], y[rest])
        one.append(clf.total_costs(X[[i]], y[[i]])[0])
    standing = next(s for s in found.standings if s.name == "a")
    assert standing.total_cost.mean == pytest.approx(np.mean(one))
    assert sorted(standing.folds) == pytest.approx(sorted(one))


def test_the_comparison_does_not_depend_on_the_number_of_processes():
    X, y = problem()
    learners = {"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier(**known())}
    one, two = (cross_compare(learners, X, y, folds=3, n_jobs=n).rows() for n in (1, 2))
    for row in (*one, *two):
        row.pop("seconds")
    assert one == two


def test_frames_are_compared_too():
    pandas = pytest.importorskip("pandas")
    X, y = problem()
    frame = pandas.DataFrame(X, columns=["x0", "x1", "x2"])
    learners = {"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier(**known())}
    rows = [[row["total_cost"] for row in cross_compare(learners, cases, y, folds=3).rows()] for cases in (X, frame)]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"folds": 1}, "folds=1 is not valid; it must be from 2 to the number of cases, 200"),
        ({"folds": 201}, "folds=201 is not valid"),
        ({"repeats": 0}, "repeats=0 is not valid"),
        ({"learners": {"a": ww.C45Classifier()}}, "at least two learners, got 'a'"),
        ({"learners": {"a": ww.C45Classifier(**known()), "b": ww.EG2Classifier()}}, "those of 'b' are others"),
        ({"y": ["a"] * 200}, "y has only one class"),
    ],
)
def test_what_cannot_be_compared(change, words):
    X, y = problem()
    arguments = {"learners": {"a": ww.C45Classifier(), "b": ww.EG2Classifier()}, "X": X, "y": y} | change
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        cross_compare(arguments.pop("learners"), arguments.pop("X"), arguments.pop("y"), **arguments)


def test_the_picture_shows_every_learner_with_its_interval():
    from matplotlib.figure import Figure

    X, y = problem()
    found = cross_compare({"a": ww.C45Classifier(**known()), "b": ww.DTMCClassifier(**known())}, X, y, folds=3)
    ax = found.plot(Figure().subplots())
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]
    assert ax.yaxis_inverted()
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == pytest.approx(
        [s.test_cost.mean for s in found.standings] + [s.error_cost.mean for s in found.standings]
    )
    assert str(found).count("\n") >= 6
