"""A tree as an Excel file: cases in rows, with formulas that give the answer and the price of the tests."""

from __future__ import annotations

import io
from typing import Any

from worthwhile.excel import load_openpyxl
from worthwhile.export.program import Cut, ExportError, ProgramStep, Refusal, Step, Verdict, decision_program, texts_of
from worthwhile.tree.json_format import plain
from worthwhile.tree.tree import Tree

__all__ = ["to_xlsx"]

ROWS = 200  # with formulas
# Excel allows 8,192 characters and 64 levels of functions in a formula, and 255 characters in a text of it.
MAX_LENGTH, MAX_LEVELS, MAX_TEXT = 2_000, 30, 255
DAYS = 25_569  # Excel's number of 1970-01-01
CASES, RULES, OUTCOMES = "cases", "rules", "outcomes"
ROW = "\x01"  # stands for the number of the row; no text in a sheet may contain it


def to_xlsx(tree: Tree, missing: bool = True, rows: int = ROWS) -> bytes:
    """Return an Excel file with a sheet for cases, whose formulas give answer and price; and the rules in words.

    Parameters
    ----------
    tree : Tree
    missing : bool
        As for `decision_program`; without rules for missing values, such a case says which test it needs.
    rows : int
        The number of rows with formulas.
    """
    return _SheetWriter(tree, missing).file(rows)


class _SheetWriter:
    """Writes a program as formulas; parts that are too long for one get a hidden column of their own."""

    def __init__(self, tree: Tree, missing: bool) -> None:
        self._openpyxl = load_openpyxl()
        self._tree, self._program = tree, decision_program(tree, missing)
        self._letter = self._openpyxl.utils.get_column_letter
        self._tests = self._program.asked()
        self._column = {test: self._letter(at) for at, test in enumerate(self._tests, 1)}
        self._number = {verdict: at for at, verdict in enumerate(self._program.verdicts, 1)}
        self._helpers: list[str] = []
        self._done: dict[int, tuple[str, int]] = {}

    def file(self, rows: int) -> bytes:
        """Return the file."""
        book = self._openpyxl.Workbook()
        cases, rules, outcomes = book.active, book.create_sheet(RULES), book.create_sheet(OUTCOMES)
        cases.title = CASES
        for at, verdict in enumerate(self._program.verdicts, 1):
            _write(outcomes, at, 1, plain(self._tree.answers[verdict.answer]))
            _write(outcomes, at, 2, verdict.price)
        for at, sentence in enumerate(self._tree.rules(), 1):
            _write(rules, at, 1, sentence[:32_767])
        self._write_cases(cases, rows)
        buffer = io.BytesIO()
        book.save(buffer)
        return buffer.getvalue()

    def _write_cases(self, sheet: Any, rows: int) -> None:
        n = len(self._tests)
        formula, _ = self._formula(self._program.root)
        outcome = self._letter(n + 3)
        for at, test in enumerate(self._tests, 1):
            _write(sheet, 1, at, self._tree.columns[test])
        _write(sheet, 1, n + 1, "answer")
        _write(sheet, 1, n + 2, "price")
        filled = f"COUNTA($A{ROW}:${self._letter(n)}{ROW})=0" if n else "FALSE"
        texts = [
            self._result(filled, outcome, "A", f"${outcome}{ROW}"),
            self._result(filled, outcome, "B", '""'),
            formula,
            *self._helpers,
        ]
        for row in range(2, rows + 2):
            for at, text in enumerate(texts, n + 1):
                sheet.cell(row, at).value = "=" + text.replace(ROW, str(row))
        for at in range(n + 3, n + 3 + len(texts) - 2):
            sheet.column_dimensions[self._letter(at)].hidden = True
        sheet.freeze_panes = "A2"

    @staticmethod
    def _result(empty: str, outcome: str, column: str, otherwise: str) -> str:
        """Return the formula of a part of the outcome; a row without values stays empty."""
        found = f"INDEX({OUTCOMES}!${column}:${column},${outcome}{ROW})"
        return f'IF({empty},"",IF(ISNUMBER(${outcome}{ROW}),{found},{otherwise}))'

    def _formula(self, step: Step) -> tuple[str, int]:
        """Return the formula of a step, and how many levels of functions it has; `ROW` stands for the row."""
        if isinstance(step, Verdict):
            return str(self._number[step]), 0
        if isinstance(step, Refusal):
            return _text(f"needs {self._tree.columns[step.test]}"), 0
        if id(step) in self._done:
            return self._done[id(step)]
        text, levels = self._question(step)
        if len(text) > MAX_LENGTH or levels > MAX_LEVELS:
            self._helpers.append(text)
            text, levels = f"${self._letter(len(self._tests) + 3 + len(self._helpers))}{ROW}", 0
        self._done[id(step)] = text, levels
        return text, levels

    def _question(self, step: ProgramStep) -> tuple[str, int]:
        cell, values = f"${self._column[step.test]}{ROW}", self._tree.schema.values[step.test]
        missing = None if step.missing is None else self._formula(step.missing)
        children = [self._formula(child) for child in step.children]
        levels = max(own for _, own in [*children, *([] if missing is None else [missing])])
        if values is None:
            text = children[-1][0]
            pairs = list(zip(step.parts, children[:-1], strict=True))
            conditions = [self._comparison(step.test, cell, part) for part, _ in pairs]
        else:
            last = children[-1] if missing is None else missing
            text = last[0]
            pairs = list(zip(step.parts, children[: len(children) - (missing is None)], strict=False))
            conditions = [_one_of(cell, texts_of(values, part)) for part, _ in pairs]  # type: ignore[arg-type]
        for condition, (_, (below, _)) in reversed(list(zip(conditions, pairs, strict=True))):
            text = f"IF({condition},{below},{text})"
        if values is None and missing is not None:
            text = f"IF(ISNUMBER({cell}),{text},{missing[0]})"
        return text, levels + len(pairs) + 2

    def _comparison(self, test: int, cell: str, cut: Any) -> str:
        assert isinstance(cut, Cut)
        value = cut.value + DAYS if self._tree.columns[test] in self._tree.schema.dates else cut.value
        return f"{cell}{'<' if cut.strict else '<='}{value!r}"


def _one_of(cell: str, texts: list[str]) -> str:
    """Return the condition that a cell has one of some values; Excel's own comparison ignores case."""
    each = [f"EXACT({cell},{_text(text)})" for text in texts]
    blocks = [f"OR({','.join(each[at : at + 200])})" for at in range(0, len(each), 200)]
    return each[0] if len(each) == 1 else blocks[0] if len(blocks) == 1 else f"OR({','.join(blocks)})"


def _text(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise ExportError(f"{text[:40]!r}… is longer than {MAX_TEXT} characters, the most in a formula of Excel")
    if any(ord(character) < 32 for character in text):
        raise ExportError(f"{text!r} contains a character that a formula of Excel does not allow")
    return '"' + text.replace('"', '""') + '"'


def _write(sheet: Any, row: int, column: int, value: Any) -> None:
    """Write a value; a text that begins like a formula stays a text."""
    from openpyxl.utils.exceptions import IllegalCharacterError

    try:
        cell = sheet.cell(row, column, value)
    except IllegalCharacterError:
        raise ExportError(f"{value!r} contains a character that Excel does not allow") from None
    if isinstance(value, str):
        cell.data_type = "s"
