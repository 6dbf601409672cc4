"""What a model costs compared with simple strategies."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from two_classes import COSTS, problem
from worthwhile.evaluation.baselines import PLAIN
from worthwhile.evaluation.evaluate import evaluate
from worthwhile.wording import amount


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
    own = found.model
    assert own.name == "mine"
    assert (own.test_cost.mean, own.error_cost.mean) == pytest.approx((report.test_cost, report.error_cost))
    assert own.total_cost.mean == pytest.approx(report.total_cost)
    assert (own.error_rate, own.normalized) == pytest.approx((report.error_rate, report.normalized))
    assert found.standard_cost == pytest.approx(standard)
    assert found.note == "The baselines were trained on 200 other cases."
    for other in found.strategies[1:]:
        assert other.saving.mean == pytest.approx(other.total_cost.mean - own.total_cost.mean)


def test_the_baselines(model):
    X, y = problem(seed=1)
    X_train, y_train = problem()
    _, none, everything, c45 = evaluate(model, X, y, X_train, y_train).strategies
    counts = {label: int((y_train == label).sum()) for label in "ab"}
    cheapest = min("ab", key=lambda answer: sum(counts[t] * COSTS.errors[t][answer] for t in "ab"))
    assert none.name == f"no test, always “{cheapest}”"
    assert none.test_cost.mean == 0
    assert none.error_cost.mean == pytest.approx(np.mean([COSTS.errors[t][cheapest] for t in y]))
    assert everything.test_cost.mean == pytest.approx(COSTS.total_price())
    candidates = [make(costs=COSTS).fit(X_train, y_train) for make in PLAIN.values()]
    assert any(c45.total_cost.mean == pytest.approx(c.total_costs(X, y).mean()) for c in candidates)
    free = ww.Costs(errors=COSTS.errors)
    costs = [c.set_params(costs=free).fit(X_train, y_train).total_costs(X, y).mean() for c in candidates]
    assert any(everything.error_cost.mean == pytest.approx(cost) for cost in costs)


def test_without_training_cases_the_baselines_are_cross_validated(model):
    X, y = problem(seed=1)
    found = evaluate(model, X, y)
    assert found.note == "The baselines were cross-validated on these cases."
    assert found.model.total_cost.mean == pytest.approx(model.total_costs(X, y).mean())
    on_own = evaluate(model, X, y, X, y)
    assert on_own.note == "The baselines were trained on these same cases."


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
    forest = ww.BudgetForestClassifier(costs=COSTS, budget=10, max_trees=4, random_state=0).fit(*problem())
    assert evaluate(forest, X, y).model.test_cost.mean <= 25


@pytest.mark.filterwarnings("ignore:the model was trained on these same cases")
def test_answers_that_are_no_class():
    costs = ww.Costs(errors={"a": {"b": 10, "unknown": 1}, "b": {"a": 10, "unknown": 1}})
    X, y = problem()
    clf = ww.DTMCClassifier(costs=costs, max_depth=1).fit(X * 0, y)
    found = evaluate(clf, X * 0, y, X * 0, y)
    assert (found.model.reject_rate, found.model.error_rate, found.model.total_cost.mean) == (1.0, 0.0, 1.0)
    assert found.strategies[1].name == "no test, always “unknown”"
    assert "rejected" in str(found)


def test_the_text_and_the_rows(model):
    X, y = problem(seed=1)
    found = evaluate(model, X, y)
    text = str(found)
    assert text.startswith("Cost per case on 200 cases, with 95% intervals\nstrategy")
    assert max(map(len, text.splitlines())) <= 100
    assert f"The model saves {amount(found.strategies[3].saving.mean, fine=True)} per case" in text
    rows = found.rows()
    assert [row["strategy"] for row in rows] == [strategy.name for strategy in found.strategies]
    assert rows[1]["saving_low"] == found.strategies[1].saving.low


def test_training_cases_without_classes_are_refused(model):
    X, y = problem()
    with pytest.raises(ValueError, match="X_train and y_train belong together"):
        evaluate(model, X, y, X_train=X)


def test_a_class_that_the_model_does_not_know_is_named():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] > 20, "sick", "well")
    clf = ww.DTMCClassifier(costs=ww.Costs(errors=5)).fit(X, y)
    with pytest.warns(UserWarning, match="y contains the unknown class 'sik', which no training case has") as caught:
        found = evaluate(clf, X, np.where(X[:, 0] > 35, "sik", y))
    assert len(caught) == 1
    assert found.model.total_cost.mean == pytest.approx(5 * 4 / 40)
    with pytest.raises(ValueError, match="'SICK'; the classes are 'sick', 'well': did you mean 'sick'"):
        evaluate(clf, X, np.char.upper(y))


def test_an_evaluation_on_the_training_cases_warns(tmp_path):
    heart = ww.datasets.load("heart")
    few = ["age", "sex", "trestbps"]  # the baselines take the time
    table, n = heart.X[few], 40
    X, y = table[:n], heart.y[:n]
    known = {"costs": heart.costs.only(few), "nominal": ["sex"], "columns": few}
    clf = ww.DTMCClassifier(**known).fit(X, y)
    clf.save(tmp_path / "model.json")
    for model in (clf, ww.load(tmp_path / "model.json")):
        for rows in (np.arange(n), np.arange(n)[::-1]):  # in any order
            with pytest.warns(UserWarning, match="was trained on these same cases"):
                evaluate(model, X.iloc[rows], y[rows])
        evaluate(model, table[n : 2 * n], heart.y[n : 2 * n])  # as many others: warnings are errors
        with pytest.warns(UserWarning, match="was trained on 40 of these 60 cases"):
            evaluate(model, table[:60], heart.y[:60])
        evaluate(model, table[1:60], heart.y[1:60])  # all but one
        evaluate(model, X, y, X, y)  # the caller knows
        other = X.copy()
        other.iloc[0, 0] += 1
        evaluate(model, other, y)
    content = json.loads((tmp_path / "model.json").read_text())
    assert content.pop("training")["cases"] == n
    (tmp_path / "old.json").write_text(json.dumps(content))
    evaluate(ww.load(tmp_path / "old.json"), X, y)  # older files have no fingerprint
    content["training"] = {"cases": n}
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="'training' lacks 'digest'"):
        ww.load(tmp_path / "bad.json")
    content["training"] = {"cases": n, "digest": "0", "sample": ["x"]}
    (tmp_path / "bad.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="'sample' of 'training' must be a list of hexadecimal numbers"):
        ww.load(tmp_path / "bad.json")
