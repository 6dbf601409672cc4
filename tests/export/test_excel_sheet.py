"""Trees as Excel files, whose formulas are worked out here."""

import io

import openpyxl
import pandas as pd
import pytest

from exported import NAMES, cases_of, check, exported_tree
from formulas import Book
from handmade import small, tree
from worthwhile.export import ExportError, excel_sheet, to_xlsx

DAYS = 25_569


def opened(model, X, **options):
    """The workbook of a tree with some cases filled in."""
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(model, rows=len(X), **options)))
    sheet = book["cases"]
    names = [cell.value for cell in sheet[1]]
    for column, name in enumerate(names, 1):
        for row, value in enumerate(X[name] if name in X.columns else [], 2):
            if not pd.isna(value):
                cell = sheet.cell(row, column)
                cell.value = value + DAYS if name in model.schema.dates else value
                cell.data_type = "s" if isinstance(value, str) else "n"
    return book, names


def results(model, X, **options):
    book, names = opened(model, X, **options)
    values = Book(book)
    letters = [openpyxl.utils.get_column_letter(names.index(what) + 1) for what in ("answer", "price")]
    return [[values.value("cases", f"{letter}{row}") for row in range(2, len(X) + 2)] for letter in letters]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "leaf"])
def test_the_sheet_decides_like_the_tree(name):
    model = exported_tree(name)
    X = cases_of(model)
    asked = [column for column in X.columns if column in model.tests_used()]
    X = X[X[asked].notna().any(axis=1)].reset_index(drop=True)  # a row without values stays empty
    check(model, X, *results(model, X))


def test_long_formulas_get_columns_of_their_own(monkeypatch):
    monkeypatch.setattr(excel_sheet, "MAX_LENGTH", 80)
    model = exported_tree("loans")
    X = cases_of(model)
    X = X[X[model.tests_used()].notna().any(axis=1)].reset_index(drop=True)
    check(model, X, *results(model, X))
    book, _ = opened(model, X)
    widths = [len(str(cell.value)) for cell in book["cases"][2] if cell.data_type == "f"]
    assert len(widths) > 5
    assert max(widths) < 8_192


def test_a_refused_case_names_the_test_and_an_empty_row_stays_empty():
    X = pd.DataFrame({"x": [None, None, 1.0], "y": [1.0, None, 1.0]})
    answers, prices = results(tree(small()), X, missing=False)
    assert answers == ["needs x", "", "no"]
    assert prices == ["", "", 3]


def test_a_single_leaf_has_no_tests():
    book, names = opened(exported_tree("leaf"), pd.DataFrame({"alpha": [1.0]}))
    assert names[:2] == ["answer", "price"]
    assert Book(book).value("cases", "A2") == 1


def test_rules_are_told_in_words_and_stay_texts():
    book = openpyxl.load_workbook(io.BytesIO(to_xlsx(exported_tree("labels"))))
    assert [cell.value for cell in book["rules"]["A"]] == exported_tree("labels").rules()
    assert {cell.data_type for cell in book["rules"]["A"]} == {"s"}
    assert len(list(book["cases"].rows)) == 201


def test_what_a_formula_cannot_hold_is_named():
    content = small()
    content["columns"][0] = {"name": "x", "kind": "nominal", "values": ["a" * 300, "b"]}
    content["nodes"][0] = {"test": "x", "branches": [["a" * 300], ["b"]], "children": [1, 2]}
    with pytest.raises(ExportError, match="is longer than 255 characters"):
        to_xlsx(tree(content))
    content["columns"][0]["values"] = ["a\x02", "b"]
    content["nodes"][0]["branches"] = [["a\x02"], ["b"]]
    with pytest.raises(ExportError, match="contains a character that"):
        to_xlsx(tree(content))
