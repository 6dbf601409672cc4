"""Trees as Python files."""

import datetime
import math
import subprocess
import sys

import pytest

from exported import NAMES, cases_of, chain, check, exported_tree
from handmade import small, tree
from worthwhile.export import to_python


def loaded(model, **options):
    """The function `decide` of a tree."""
    names = {}
    exec(compile(to_python(model, **options), "tree.py", "exec"), names)
    return names["decide"]


@pytest.mark.parametrize("name", NAMES)
def test_it_decides_like_the_tree(name):
    model = exported_tree(name)
    decide, X = loaded(model), cases_of(model)
    found = [decide(case) for case in X.to_dict("records")]
    check(model, X, [one.answer for one in found], [one.price for one in found])
    assert {type(one.answer) for one in found} <= {type(answer) for answer in model.answers}


def test_it_needs_no_other_package(tmp_path):
    path = tmp_path / "tree.py"
    path.write_text(to_python(exported_tree("loans")), encoding="utf-8")
    program = "import sys, tree; print(tree.decide({'income': 60})); print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("False\n")
    assert done.stdout.startswith("Decision(answer='")


def test_missing_values_in_all_their_forms():
    model = exported_tree("loans")
    decide = loaded(model)
    expected = decide({})
    for nothing in (None, math.nan, ""):
        assert decide(dict.fromkeys(model.columns, nothing)) == expected
    with pytest.raises(ValueError, match=r"the value of '.*' is missing"):
        loaded(model, missing=False)({})


def test_dates_and_booleans_may_be_python_objects():
    decide = loaded(exported_tree("labels"))
    name = exported_tree("labels").columns[0]
    early, late = datetime.date(2024, 3, 31), datetime.datetime(2024, 3, 31, 13)
    assert decide({name: "a", "seen": early, "x": 1.0}) == (1, 2.0)
    assert decide({name: "a", "seen": late, "x": 0.3}) == (1, 2.1)
    assert decide({name: "A", "level": 2.0}) == (2, 4.0)
    assert decide({name: '"x"', "flag": True}) == ("unknown", 1.5)


def test_deep_trees_become_several_functions():
    model = tree(small(nodes=chain(60)))
    assert to_python(model, missing=False).count("def _part_") > 3
    decide = loaded(model, missing=False)
    X = [[value, 0.0] for value in (-1.0, 0.5, 30.0, 30.5, 58.5, 70.0)]
    assert [decide({"x": x}).answer for x, _ in X] == model.predict(X).tolist()
