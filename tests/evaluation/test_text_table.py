"""Tables as plain text, drawn by rich."""

import io

from rich.console import Console

from worthwhile.evaluation.text_table import rich_table, text_table

ROWS = [["a long name of a strategy", "1.00\n0.50–1.50"], ["[/b]", "20.00\n19.00–21.00"]]


def test_names_left_numbers_right_and_two_lines_per_cell():
    assert text_table(["strategy", "total"], ROWS).splitlines() == [
        "strategy                          total",
        "─" * 39,
        "a long name of a strategy          1.00",
        "                              0.50–1.50",
        "[/b]                              20.00",
        "                            19.00–21.00",
    ]


def test_plain_text_has_no_colours_whatever_the_environment(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "20")
    text = text_table(["strategy", "total"], ROWS)
    assert "\x1b" not in text
    assert "a long name of a strategy" in text


def test_the_first_row_is_bold_on_a_terminal():
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="standard")
    console.print(rich_table(["strategy", "total"], ROWS, highlight_first=True))
    lines = console.file.getvalue().splitlines()
    assert "\x1b[1m" in next(line for line in lines if "a long name" in line)
    assert "\x1b[1m" not in next(line for line in lines if "[/b]" in line)


def test_long_names_wrap_within_the_width():
    assert max(map(len, text_table(["strategy", "total"], [["word " * 40, "1.00"]]).splitlines())) <= 100
