"""Saved learners: what is written is read back, and what is wrong is refused by name."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import worthwhile as ww
from all_learners import LEARNERS, learned, make
from mutation import check_usable, mutated
from worthwhile.learners import model_file

HEART = ww.datasets.load("heart")


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_comes_back_from_its_file(learner, tmp_path):
    clf = make(learner, costs=HEART.costs, prune="cost", random_state=np.random.RandomState(0)).fit(HEART.X, HEART.y)
    clf.save(tmp_path / "model.json")
    back = ww.load(str(tmp_path / "model.json"))
    assert type(back) is learner
    assert back.get_params() == clf.get_params() | {"random_state": None}
    assert learned(back) == learned(clf)
    np.testing.assert_array_equal(back.classes_, clf.classes_)
    np.testing.assert_array_equal(back.feature_names_in_, clf.feature_names_in_)
    holes = HEART.X.mask(np.random.default_rng(0).random(HEART.X.shape) < 0.3)
    for X in (HEART.X, holes):
        np.testing.assert_array_equal(back.predict(X), clf.predict(X))
        np.testing.assert_array_equal(back.test_costs(X), clf.test_costs(X))
        np.testing.assert_allclose(back.predict_proba(X), clf.predict_proba(X), atol=1e-12)
        np.testing.assert_array_equal(back.total_costs(X, HEART.y), clf.total_costs(X, HEART.y))


def test_parameters_of_all_kinds_are_kept(tmp_path):
    isa = {"pet": {"pug": "dog", "beagle": "dog", 3.0: "fish"}}
    X = pd.DataFrame({"pet": ["pug", "beagle", "3", "pug"] * 3, "n": range(12)})
    costs = ww.Costs(
        tests={"pet": ww.Test(1, group="g", delayed=True), "n": ww.Test(0, requires=("pet",))},
        groups={"g": 2.5},
        errors={True: {False: 3.0, "unknown": 1.0}, False: {True: 2.0, "unknown": 1.0}},
        about={"title": "pets"},
    )
    given_nominal = pd.Index(["n"])
    clf = ww.EG2Classifier(costs=costs, hierarchies=isa, nominal=given_nominal, columns={"pet": 0, "n": 1}.keys())
    clf.fit(X, [True, False] * 6).save(tmp_path / "m.json")
    back = ww.load(tmp_path / "m.json")
    assert back.costs == back.tree_.costs == costs
    assert back.hierarchies == {"pet": {"pug": "dog", "beagle": "dog", "3": "fish"}}
    assert (back.nominal, back.columns) == (["n"], ["pet", "n"])
    assert back.classes_.tolist() == [False, True]
    assert back.tree_.schema == clf.tree_.schema
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))


def test_a_learner_without_column_names(tmp_path):
    clf = ww.C45Classifier().fit([[0], [1]] * 4, [5, 7] * 4)
    clf.save(tmp_path / "m.json")
    back = ww.load(tmp_path / "m.json")
    assert not hasattr(back, "feature_names_in_")
    assert back.predict([[1], [0]]).tolist() == [7, 5]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "m.json"
    ww.EG2Classifier(costs=ww.Costs(tests={"x0": 1})).fit([[0], [1]] * 4, ["a", "b"] * 4).save(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"format": "worthwhile-tree"},
            "is not a saved learner: 'format' must be 'worthwhile-model', got 'worthwhile-tree'",
        ),
        ({"version": 7}, "version 7 of the model format is unknown; this release reads versions 1 to 2"),
        (
            {"learner": "RandomForestClassifier"},
            "unknown learner 'RandomForestClassifier'; choose from C45Classifier",
        ),
        ({"learner": "learner"}, "unknown learner 'learner'"),
        ({"learner": ["os.system"]}, "'learner' of the model must be a string"),
        ({"learner": ...}, "the model lacks 'learner'"),
        ({"params": {"depth": 3}}, "EG2Classifier has no parameter 'depth'; it has costs, cap, weighting"),
        ({"params": {"lookahead": 3}}, "EG2Classifier has no parameter 'lookahead'"),
        ({"params": {"omega": -3}}, "EG2Classifier: invalid omega=-3; it must be a number of at least 0"),
        ({"params": {"costs": []}}, "costs must be an object, got []"),
        ({"params": {"costs": {"tests": {"x0": "high"}}}}, "price of test 'x0' must be a number"),
        ({"params": []}, "'params' of the model must be an object"),
        ({"tree": {}}, "the tree lacks 'format'"),
        ({"tree": []}, "'tree' of the model must be an object"),
        ({"named_columns": 1}, "'named_columns' of the model must be true or false, got 1"),
        ({"colour": "red"}, "the model has the unknown field 'colour'"),
    ],
)
def test_broken_models_are_refused_by_name(model, change, message, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({k: v for k, v in (model | change).items() if v is not ...}))
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        ww.load(path)


def test_files_that_are_no_models(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.json: no such file"):
        ww.load(tmp_path / "none.json")
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path))}: is not a file$"):
        ww.load(tmp_path)
    for content, message in (
        (b"\xff\xfe", "is not UTF-8"),
        (b"{", "is not JSON"),
        (b'{"a":' * 10**5, "nested too deeply"),
        (b"[]", "looks like a list in JSON; a model"),
    ):
        (tmp_path / "m.json").write_bytes(content)
        with pytest.raises(ValueError, match=message):
            ww.load(tmp_path / "m.json")


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    (tmp_path / "m.json").write_text("{}")

    def broken(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.read_bytes", broken)
    with pytest.raises(ValueError, match=r"m.json: cannot be read: Permission denied"):
        ww.load(tmp_path / "m.json")


def test_what_cannot_be_written_is_refused(tmp_path):
    clf = ww.C45Classifier().fit([[0], [1]] * 4, [0, 1] * 4)
    with pytest.raises(FileNotFoundError, match=r"none/m.json: cannot be written: No such file"):
        clf.save(tmp_path / "none" / "m.json")
    with pytest.raises(ValueError, match="is a folder, not a file"):
        clf.save(tmp_path)
    with pytest.raises(ValueError, match="/dev/null: is not a regular file"):
        clf.save("/dev/null")
    with pytest.raises(ValueError, match="1j cannot be written to JSON"):
        clf.set_params(max_depth=1j).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_mutated_models_load_or_are_refused(model, data):
    content = data.draw(mutated([model]))
    try:
        clf = model_file.from_document(content)
    except ValueError:
        return
    check_usable(clf.tree_)


def test_edited_prices_are_noticed_in_every_place(tmp_path):
    path, costs = tmp_path / "model.json", ww.Costs(tests={"x0": 3.0}, errors=10)
    X, y = [[float(i)] for i in range(20)], ["a"] * 10 + ["b"] * 10
    for clf in (ww.EG2Classifier(costs=costs), ww.BudgetForestClassifier(costs=costs, budget=9.0, max_trees=2)):
        clf.fit(X, y).save(path)
        text = path.read_text()
        places = text.split('"price": 3.0')
        assert len(places) > 2  # the parameter of the learner, and the list that its trees charge by
        for at in range(1, len(places)):
            path.write_text('"price": 3.0'.join(places[:at]) + '"price": 4.0' + '"price": 3.0'.join(places[at:]))
            with pytest.raises(ValueError, match=r"model.json: the price list in the file was changed"):
                ww.load(path)
        path.write_text(text)
        assert ww.load(path).costs == costs
