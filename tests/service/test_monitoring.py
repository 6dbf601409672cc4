"""Expected against actual cost, drift and spending."""

import json

import numpy as np
import pytest
from sklearn.base import clone

import worthwhile as ww
from worthwhile.service.model_store import ServedModel
from worthwhile.service.monitoring import cost_checks, drift_of, monitor


def test_a_report(file_desk, change):
    for n in range(30):
        case = change("create", None, str(n), {"age": 63})
        change("results", case["id"], {"scan": "clear"}, 1)
        change("close", case["id"], "well" if n else "sick")
    with file_desk.database.read() as connection:
        (report,) = monitor(connection, file_desk.models)
    assert (report.name, report.n_cases, report.n_closed) == ("heart", 30, 30)
    every = report.checks[-1]
    assert (every.week, every.n_cases) == ("all", 30)
    assert every.expected == pytest.approx(case_expected(file_desk))
    assert every.actual == pytest.approx((30 * 41 + 1000) / 30)
    first = next(line for line in report.drift if line.test == "age")
    # In training half of the cases were older than 40, and 20 of those 50 had a clear scan.
    assert (first.test, first.where, first.n_cases, first.drifted) == ("age", "first test", 30, True)
    assert first.branches == (("≤ 40", 0.5, 0.0), ("> 40", 0.5, 1.0))
    scan = next(line for line in report.drift if line.test == "scan")
    assert scan.where == "age > 40"
    assert {words: before for words, before, _ in scan.branches} == {"clear": 0.4, "spot": 0.6}
    assert report.by_test == (("scan", 30, 1200.0), ("age", 30, 30.0))
    assert sum(line.spent for line in report.spending) == 1230
    assert report.spending[0].week.count("-W") == 1


def case_expected(desk):
    advice = next(iter(desk.models.current.values())).model.next_test({"age": 63})
    return advice.spent + advice.go_on_cost


def test_no_drift_in_cases_like_training(file_desk):
    (served,) = file_desk.models.current.values()
    known = [{"age": 30}] * 50 + [{"age": 63, "scan": "clear"}] * 20 + [{"age": 63, "scan": "spot"}] * 30
    lines, note = drift_of(served, known)
    assert [(line.test, line.drifted) for line in lines] == [("age", False), ("scan", False)]
    assert note == ""
    assert "fewer than 20" in drift_of(served, known[:10])[1]


def test_models_without_shares(file_desk):
    from handmade import turney

    tree = ww.Tree.from_json(json.dumps(turney()))
    assert "no training weights" in drift_of(ServedModel("id", "t", 1, tree), [])[1]
    assert "does not say what tests said in training" in drift_of(ServedModel("id", "t", 1, object()), [])[1]


def drifting(n_cases, shift=0.0):
    """Two numbers: one decides about half of the cases, the other, which costs more, about the rest."""
    rng = np.random.default_rng(n_cases)
    x = rng.normal(size=(n_cases, 2))
    y = np.where(np.abs(x[:, 0]) > 1, x[:, 0] > 0, x[:, 1] > 0).astype(int)
    x[:, 1] += shift
    return x, y


@pytest.mark.parametrize(
    "learner",
    [
        ww.CascadeClassifier(n_trees=10, random_state=0),
        ww.BudgetForestClassifier(max_trees=5, random_state=0),
        ww.BudgetForestClassifier(variant="paper", tests="chosen", max_trees=8, random_state=0),
        ww.AutoClassifier(learners=["cascade"], random_state=0),
    ],
    ids=lambda learner: f"{type(learner).__name__}-{getattr(learner, 'variant', None)}",
)
def test_drift_of_models_that_are_no_single_tree(learner, tmp_path):
    X, y = drifting(400)
    clf = clone(learner).set_params(costs=ww.Costs(tests={"x0": 1.0, "x1": 3.0}, errors=50)).fit(X, y)
    clf.save(tmp_path / "model.json")
    served = ServedModel("id", "m", 1, ww.load(tmp_path / "model.json"))
    assert served.model.result_shares_ == clf.result_shares_
    for shift, drifted in ((0.0, []), (1.0, ["x1"])):
        known = [dict(zip(("x0", "x1"), row, strict=True)) for row in drifting(200, shift)[0].tolist()]
        lines, note = drift_of(served, known)
        assert note == ""
        assert [line.test for line in lines if line.drifted] == drifted
        asked = next(line for line in lines if line.test == "x0")
        assert (asked.where, asked.n_cases) == ("where the model asks for it", 200)
        assert [words[:2] for words, _, _ in asked.branches] == ["≤ ", "> ", "> ", "> ", "> "]
        assert sum(before for _, before, _ in asked.branches) == pytest.approx(1)


def test_a_test_is_compared_only_where_the_model_asks_for_it():
    """A cascade buys the second test only near the middle of the first: elsewhere its results say nothing."""
    X, y = drifting(400)
    clf = ww.CascadeClassifier(costs=ww.Costs(tests={"x0": 1.0, "x1": 3.0}, errors=50), n_trees=10, random_state=0)
    clf.fit(X, y)
    asked, every = (sum(clf.result_shares_[name].counts) for name in ("x1", "x0"))
    assert 0.4 * every < asked < 0.95 * every
    known = [{"x0": 2.5, "x1": 9.0}] * 30
    lines, _ = drift_of(ServedModel("id", "m", 1, clf), known)
    assert [line.test for line in lines] == ["x0"]


def test_checks_by_week():
    times = "2026-01-05T00:00:00Z", "2026-01-13T00:00:00Z"
    checks = cost_checks([(times[0], 10.0, 12.0), (times[1], 10.0, 8.0), (times[1], None, 3.0)])
    assert [(c.week, c.n_cases) for c in checks] == [("2026-W02", 1), ("2026-W03", 1), ("all", 2)]
    assert checks[0].error is None
    assert checks[2].actual == 10
    assert cost_checks([]) == []
