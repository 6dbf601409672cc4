"""Rows pasted from a spreadsheet."""

import pytest

from worthwhile.service.pasted_row import read_row

TESTS = ["age", "sex", "id"]


def test_quoted_cells_and_marks_for_missing_values():
    assert read_row('case;age;sex\n"A;7";?;"m"', ["age", "sex"]) == ("A;7", {"sex": "m"})
    assert read_row("age,sex\n63,u", ["age", "sex"]) == (None, {"age": "63", "sex": "u"})


def test_a_test_called_id_is_a_test():
    assert read_row("id\tage\n5\t63", TESTS) == (None, {"id": "5", "age": "63"})


def test_other_columns():
    text = "age\tclass\n63\tsick"
    with pytest.raises(ValueError, match="not tests: 'class'"):
        read_row(text, TESTS)
    assert read_row(text, TESTS, ignore_others=True) == (None, {"age": "63"})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "nothing was pasted"),
        ("1,2", "needs 3 cells"),
        ("age,sex\n1", "the header has 2 cells, the row 1"),
        ("age\n1\n2", "got 3 lines"),
        ("age,age\n1,2", "twice"),
    ],
)
def test_rows_that_are_refused(text, words):
    with pytest.raises(ValueError, match=words):
        read_row(text, TESTS)
