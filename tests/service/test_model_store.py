"""Models kept by the hash of their content."""

import pytest

import worthwhile as ww
from clinic import clinic_desk, write_model
from worthwhile.service.model_store import ModelStore, ServedModel, read_model


def test_the_same_file_is_the_same_version(tmp_path):
    path = write_model(tmp_path)
    for version, price in ((1, 40.0), (1, 40.0), (2, 50.0), (1, 40.0)):
        path = write_model(tmp_path, scan=price)
        with clinic_desk(tmp_path / "cases.db", [path]) as desk:
            assert desk.models.current["heart"].version == version


def test_models_come_back_from_the_database(tmp_path):
    X, y = [[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"]
    clf = ww.DTMCClassifier(costs=ww.Costs(tests={"x0": 4}, errors=10), cross_fit=False).fit(X, y)
    clf.save(tmp_path / "learned.json")
    with clinic_desk(tmp_path / "cases.db", [tmp_path / "learned.json", write_model(tmp_path)]) as desk:
        ids = [served.id for served in desk.models.current.values()]
        fresh = ModelStore(desk.database)
        with desk.database.read() as connection:
            learned, heart = [fresh.by_id(connection, own) for own in ids]
    assert learned.model.next_test({}).test == "x0"
    assert (heart.name, heart.version, len(heart.trees)) == ("heart", 1, 1)
    assert len(learned.trees) == 1


def test_which_model_takes_a_new_case(file_desk, tmp_path):
    assert file_desk.models.for_new_case(None).name == "heart"
    with clinic_desk(tmp_path / "two.db", [write_model(tmp_path), write_model(tmp_path, "lung")]) as desk:
        with pytest.raises(ValueError, match="name a model; valid: 'heart', 'lung'"):
            desk.models.for_new_case(None)
        with pytest.raises(ValueError, match="did you mean 'lung'"):
            desk.models.for_new_case("lungs")


def test_bad_models(tmp_path):
    (tmp_path / "bad.json").write_text('{"format": "worthwhile-tree"}')
    with pytest.raises(ValueError, match=r"bad\.json: "), clinic_desk(tmp_path / "cases.db", [tmp_path / "bad.json"]):
        pass
    with (
        pytest.raises(ValueError, match="two models called 'heart'"),
        clinic_desk(tmp_path / "cases.db", [write_model(tmp_path), write_model(tmp_path)]),
    ):
        pass
    with pytest.raises(ValueError, match="is not a saved learner"):
        read_model('{"format": "other"}')


def test_a_cascade_has_no_trees():
    assert ServedModel("id", "x", 1, object()).trees == ()
