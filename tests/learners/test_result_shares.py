"""What tests said in training: cuts, counts, and what a file must have."""

import json

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners.result_shares import MAX_VALUES, result_shares
from worthwhile.table.schema import Schema


def test_only_cases_that_were_asked_count():
    schema = Schema(("x", "y", "z", "w"), (None, ("a", "b"), None, tuple(map(str, range(MAX_VALUES + 1)))))
    arrays = [np.arange(10.0), np.array([0, 1] * 5), np.full(10, np.nan), np.zeros(10, dtype=int)]
    asked = np.ones((10, 4), dtype=bool)
    asked[5:, 1] = False
    found = result_shares(schema, arrays, asked, np.arange(1.0, 11.0))
    assert set(found) == {"x", "y"}  # z has no value, w too many
    assert found["x"].cuts == (1.0, 3.0, 5.0, 7.0)
    assert found["x"].counts == (3.0, 7.0, 11.0, 15.0, 19.0)
    assert found["y"].counts == (1 + 3 + 5, 2 + 4)
    assert [found["x"].part_of(value) for value in (-1, 1, 1.5, 9)] == [0, 0, 1, 4]
    assert [found["y"].part_of(code) for code in (0, 1)] == [0, 1]


def test_a_number_that_is_always_the_same():
    found = result_shares(Schema(("x",), (None,)), [np.ones(4)], np.ones((4, 1), dtype=bool))
    assert (found["x"].cuts, found["x"].counts) == ((), (4.0,))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"q": {"counts": [1]}}, "no column"),
        ({"x0": {"counts": [1, 2]}}, "must have 'cuts'"),
        ({"x0": {"cuts": [2, 1], "counts": [1, 1, 1]}}, "rising"),
        ({"x0": {"cuts": ["1"], "counts": [1, 1]}}, "rising"),
        ({"x0": {"cuts": [1], "counts": [1]}}, "2 numbers"),
        ({"x0": {"cuts": [1], "counts": [1, -1]}}, "at least 0"),
        ({"x0": {"cuts": [1], "counts": [0, 0]}}, "at least 0"),
        ({"x0": {"cuts": [1], "counts": [1, 1], "more": 1}}, "unknown field"),
    ],
)
def test_files_are_checked(tmp_path, wrong, words):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    costs = ww.Costs(tests={"x0": 1.0}, errors=50)
    path = tmp_path / "model.json"
    ww.BudgetForestClassifier(costs=costs, max_trees=2, random_state=0).fit(X, X[:, 0] > 0).save(path)
    content = json.loads(path.read_text())
    assert set(content["results"]) == {"x0"}
    del content["results"]
    path.write_text(json.dumps(content))
    assert ww.load(path).result_shares_ == {}  # as older files are
    path.write_text(json.dumps({**content, "results": wrong}))
    with pytest.raises(ValueError, match=words):
        ww.load(path)
