"""The page as a whole; what a browser does with it is tested in test_browser.py."""

import json
import re

import numpy as np
import pytest
from jinja2 import StrictUndefined
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from handmade import small, tree
from report_trees import CASES
from worthwhile.report import write_report
from worthwhile.report.page import _environment

SECTIONS = ["summary", "tree", "walk", "spending", "sensitivity", "cases", "prices"]


def test_a_report_on_a_trained_tree(write, heart):
    page = write(heart.clf, *heart.held_out, **heart.training)
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS
    assert page.text.count("<h1>Heart disease (Cleveland)</h1>") == 1
    assert (
        "Model: a decision tree, learned by EG2, trained on 200 cases. Costs are measured on 103 other cases."
        " Source of the prices: Turney" in page.words[""]
    )
    saved = json.loads(re.search(r'<script type="application/json" id="model">(.*?)</script>', page.text).group(1))
    assert saved == json.loads(json.dumps(heart.clf._document()))
    assert page.text == write(heart.clf, *heart.held_out, **heart.training).text


def test_a_report_on_a_tree_written_by_hand(write):
    page = write(tree(small()), *CASES, title="By <hand> & more", currency="€")
    assert "<h1>By &lt;hand&gt; &amp; more</h1>" in page.text
    assert "This tree was written by hand. Costs are measured on 16 cases." in page.words[""]
    assert re.search(r"€\d+\.\d\d 95 % interval", page.words["summary"])


def chosen(learners, **more):
    """Return what AutoClassifier chooses for two columns, of which the second is the class."""
    X, y = np.array([[0, 0], [1, 0], [0, 1], [1, 1]] * 20), ["no", "no", "yes", "yes"] * 20
    known = {"costs": ww.Costs(tests={"x0": 1, "x1": 2}, errors=20), "random_state": 0}
    return ww.AutoClassifier(learners=learners, **known | more).fit(X, y), X, y


@pytest.mark.parametrize("readable", [False, True])
def test_a_report_on_the_tree_that_was_chosen(write, readable):
    clf, X, y = chosen(["dtmc"], readable=readable)
    page = write(clf, X[:60], y[:60], X_train=X, y_train=y)
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS
    assert (
        "Model: a decision tree, learned by DTMC, the best of several learners (AutoClassifier), trained on 80 cases."
        in page.words[""]
    )
    assert f"{clf.expected_cost_:.2f} measured on cases left out in training" in page.words["summary"]
    assert "x1 2.00 used leaves the tree between" in page.words["sensitivity"]
    assert page.words["tried"].startswith("Learners tried Several methods of learning were compared")
    assert "was kept. DTMC: the lowest cost on cases left out in training." in page.words["tried"]
    for one in clf.candidates_:
        assert f"{one.name} {one.expected_cost:.2f} " in page.words["tried"]


def test_a_report_on_the_choice_of_no_test_knows_no_break_even_prices(write):
    clf, X, y = chosen(["dtmc"], costs=ww.Costs(tests={"x0": 50, "x1": 50}, errors=2))
    page = write(clf, X, y, X_train=X, y_train=y)
    assert "The tree is a single leaf" in page.words["tree"]
    assert "no test was worth its price, so this model may not use" in page.words["sensitivity"]


@pytest.mark.parametrize("auto", [False, True])
def test_a_report_on_a_cascade_has_no_tree(write, auto):
    clf, X, y = chosen(["dtmc"])
    cascade = ww.CascadeClassifier(costs=clf.costs, n_trees=5, random_state=0).fit(X, y)
    if auto:
        clf.best_estimator_ = cascade
    page = write(clf if auto else cascade, X, y, X_train=X, y_train=y)
    assert [name for name in page.ids if name in SECTIONS] == [one for one in SECTIONS if one not in ("tree", "walk")]
    assert ", the best of several learners (AutoClassifier)" in page.words[""] or not auto
    assert "Not available for cascades" in page.words["sensitivity"]
    cheapest = cascade.stages_[0]
    assert f"1 {cascade.problem_.pricing.price(cascade.problem_.closure_of(cheapest)):.2f}" in page.words["cascade"]
    assert ", ".join(cheapest) in page.words["cascade"]
    assert ("tried" in page.ids) == auto
    assert 'id="model"' not in page.text


def test_models_inside_pipelines(write):
    X, y = np.array(CASES[0][:3].tolist() * 6), ["no", "yes", "no"] * 6
    costs = ww.Costs(tests={"x0": 1, "x1": 2}, errors=10)
    pipe = make_pipeline(FunctionTransformer(lambda X: X * 2), ww.DTMCClassifier(costs=costs)).fit(X, y)
    page = write(pipe, X, y, X_train=X, y_train=y)
    assert "The model and the baselines were trained on these same cases" in page.words["summary"]
    assert "Costs are measured on the same cases." in page.words[""]


def test_names_cannot_break_out_of_the_page(write):
    evil = "</script><script>alert(1)</script><!--"
    content = small(
        classes=[evil, "yes"],
        columns=[{"name": evil, "kind": "nominal", "values": [evil, "b"]}, {"name": '" onload="x', "kind": "numeric"}],
        costs={"tests": {evil: 1}, "errors": 5, "about": {"title": evil, "currency": "<b>", "source": evil}},
        nodes=[{"test": evil, "branches": [[evil], ["b"]], "children": [1, 2]}, {"answer": evil}, {"answer": "yes"}],
    )
    X = np.array([[evil, 1.0], ["b", 2.0], [None, 3.0]] * 4, dtype=object)
    page = write(tree(content), X, [evil, "yes", "yes"] * 4)
    assert page.tags.count("script") == 2
    assert "<b>" not in page.text
    model = re.search(r'id="model">(.*?)</script>', page.text).group(1)
    assert json.loads(model)["classes"][0] == evil


def test_every_template_escapes_and_refuses_undefined_names():
    environment = _environment()
    assert environment.autoescape is True
    assert environment.undefined is StrictUndefined
    unsafe = r"\|\s*safe\b|autoescape|Markup"
    for name in environment.list_templates():
        source, _, _ = environment.loader.get_source(environment, name)
        assert not re.search(unsafe, source), name


def test_errors_are_reported_and_nothing_is_written(tmp_path, heart):
    clf, (X, y) = heart.clf, heart.held_out
    path = tmp_path / "report.html"
    with pytest.raises(ValueError, match="give both X_train and y_train, or neither"):
        write_report(path, clf, X, y, X_train=heart.X)
    with pytest.raises(ValueError, match="X has 103 cases but y has 102 classes"):
        write_report(path, clf, X, y[1:])
    with pytest.raises(ValueError, match="X_train has 200 cases but y_train has 103 classes"):
        write_report(path, clf, X, y, X_train=heart.X, y_train=y)
    with pytest.raises(ValueError, match="seconds must be above 0, got -1"):
        write_report(path, clf, X, y, **heart.training, sensitivity=-1)
    with pytest.raises(OSError, match="cannot be written"):
        write_report(tmp_path / "no" / "folder.html", clf, X, y)
    assert list(tmp_path.iterdir()) == []


def test_break_even_prices_of_tests_in_several_groups(tmp_path):
    costs = ww.Costs(
        tests={"age": ww.Test(1.0, group=("blood", "panel")), "crp": ww.Test(2.0, group="blood")},
        groups={"blood": 3.0, "panel": 4.0},
        errors=50.0,
        currency="€",
    )
    X, y = np.array([[i, i % 3] for i in range(40)], dtype=float), ["a" if i < 20 else "b" for i in range(40)]
    clf = ww.EG2Classifier(costs=costs, prune="cost", columns=["age", "crp"]).fit(X, y)
    ww.report.write_report(tmp_path / "r.html", clf, X, y, X_train=X, y_train=y)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "plus 3.00 for the group blood</small><small>plus 4.00 for the group panel</small>" in text
    assert "Amounts are in €." in text


def test_sections_explain_themselves(tmp_path):
    heart = ww.datasets.load("heart")
    clf = ww.AutoClassifier(costs=heart.costs, nominal=heart.nominal, columns=heart.feature_names, time_limit=3)
    clf.fit(heart.X, heart.y)
    ww.report.write_report(
        tmp_path / "r.html", clf, heart.X, heart.y, X_train=heart.X, y_train=heart.y, sensitivity=1.0
    )
    text = " ".join((tmp_path / "r.html").read_text(encoding="utf-8").split())
    for words in (
        "Every case pays for the tests that are done, and for the consequences if its answer is wrong.",
        "“No test” gives the same answer to all cases;",
        "Several methods of learning were compared on cases that they had not learned from;",
        "Rounds: on how many parts of the cases a learner was measured.",
        "A case is named by its line in the table where that is known.",
    ):
        assert words in text


def test_a_price_list_with_surcharges_and_a_column_without_a_price(tmp_path):
    costs = ww.Costs(tests={"age": ww.Test(1.0, surcharges=[ww.Surcharge(2.0, result="> 30")])}, errors=50.0)
    X, y = np.array([[i, i % 3] for i in range(40)], dtype=float), ["a" if i < 20 else "b" for i in range(40)]
    clf = ww.EG2Classifier(costs=costs, prune="cost", columns=["age", "crp"]).fit(X, y)
    ww.report.write_report(tmp_path / "r.html", clf, X, y, X_train=X, y_train=y)
    assert "2.00 if age > 30" in (tmp_path / "r.html").read_text(encoding="utf-8").replace("&gt;", ">")
