"""What notebooks show: scikit-learn's display of a learner, and below it what was learned."""

import html
import re
from pathlib import Path

import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import worthwhile as ww
from all_learners import LEARNERS, make
from handmade import small, tree, turney

X = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]] * 6
Y = ["<a>", "<a>", "b&c", "b&c"] * 6
COSTS = ww.Costs(tests={"<x>": 4.0, "y": 1.0}, errors=10)


def test_a_tree():
    page = tree(small())._repr_html_()
    assert page.startswith('<table class="worthwhile">')
    assert "5 nodes, 3 leaves, depth 2; expected cost 6.20 per case" in page
    assert "without tests: 5.00 per case, always answering yes" in page
    rows = re.findall(r"<tr>(.*?)</tr>", page)
    assert [re.findall(r">([^<]+)</t[dh]>", row) for row in rows] == [
        ["test", "price alone", "used for"],
        ["x", "1.00", "100 % of cases"],
        ["y", "2.00", "60 % of cases"],
    ]


def test_a_tree_that_knows_what_new_cases_cost_shows_this_figure_alone():
    clf = ww.DTMCClassifier(costs=COSTS, columns=["<x>", "y"]).fit(X, Y)
    page = clf.tree_._repr_html_()
    assert f"expected cost of a new case: {clf.expected_cost_:.2f} (" in page
    assert page.count("expected cost") == 1


def test_a_tree_without_weights_and_one_without_tests():
    page = tree(turney())._repr_html_()
    assert "expected" not in page
    assert "% of cases" not in page
    assert page.count("<tr>") == 5
    assert "1 node, 1 leaf, depth 0" in tree(small(nodes=[{"answer": "no"}]))._repr_html_()


def test_names_are_escaped():
    clf = ww.DTMCClassifier(costs=COSTS, columns=["<x>", "y"]).fit(X, Y)
    page = clf.tree_._repr_html_()
    assert "&lt;x&gt;" in page
    assert "<x>" not in page
    assert html.escape("answering <a>") in page


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_shows_its_parameters_and_then_what_it_learned(learner):
    clf = make(learner, costs=COSTS, columns=["<x>", "y"])
    before = clf._repr_html_()
    assert 'class="worthwhile"' not in before
    assert learner.__name__ in before
    clf.fit(X, Y)
    page = clf._repr_html_()
    assert page.count('class="worthwhile"') == 1
    assert page.index("sk-") < page.index('class="worthwhile"')
    bundle = clf._repr_mimebundle_()
    assert bundle["text/plain"] == repr(clf)
    assert bundle["text/html"].count('class="worthwhile"') == 1
    assert f"<strong>{learner.__name__}</strong>" in page


def test_a_forest_says_what_it_costs():
    clf = make(ww.BudgetForestClassifier, costs=COSTS, columns=["<x>", "y"]).fit(X, Y)
    page = clf._repr_html_()
    assert "5 trees" in page
    assert re.search(r"tests \d+\.\d\d and errors \d+\.\d\d per validation case, \d+\.\d% wrong", page)


def test_a_lazy_learner_has_nothing_to_add():
    clf = ww.CSID3Classifier(lazy=True, prune="none").fit(X, Y)
    assert 'class="worthwhile"' not in clf._repr_html_()


def test_in_a_pipeline_and_as_text():
    clf = ww.C45Classifier().fit(X, Y)
    assert "C45Classifier" in make_pipeline(FunctionTransformer(), clf)._repr_html_()
    with sklearn.config_context(display="text"):
        assert not hasattr(clf, "_repr_html_")
        assert list(clf._repr_mimebundle_()) == ["text/plain"]


def test_long_lists_are_cut():
    columns = [{"name": f"t{j}", "kind": "numeric"} for j in range(40)]
    nodes = []
    for j in range(40):
        nodes += [{"test": f"t{j}", "threshold": 0, "children": [2 * j + 1, 2 * j + 2]}, {"answer": "no"}]
    page = tree(small(columns=columns, costs={}, nodes=[*nodes, {"answer": "yes"}]))._repr_html_()
    assert "and 10 more" in page


def test_types_are_shipped():
    assert (Path(ww.__file__).parent / "py.typed").exists()
