"""A tree as an SQL query: the answer and the price of the tests for every row of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from worthwhile.export.program import Cut, ExportError, ProgramStep, Refusal, Step, Verdict, decision_program, texts_of
from worthwhile.tree.json_format import plain
from worthwhile.tree.tree import Tree

__all__ = ["DIALECTS", "to_sql"]

RULE = "worthwhile_rule"  # an extra column of the result: the number of the outcome


@dataclass(frozen=True)
class _SqlForm:
    """How a database writes what the standard leaves open; functions take the quoted name of a column."""

    number: Callable[[float], str]
    is_missing: Callable[[str], str]  # of a numeric column
    date: Callable[[str], str]  # days since 1970-01-01
    text: str  # the type of texts
    refuses: Callable[[str], str] | None = None  # where a numeric column holds no number


DIALECTS: Mapping[str, _SqlForm] = {
    "sqlite": _SqlForm(
        number=repr,
        is_missing=lambda name: f"{name} IS NULL",
        date=lambda name: f"(julianday({name}) - 2440587.5)",
        text="TEXT",
        # A column may hold anything; a text is larger than every number.
        refuses=lambda name: f"typeof({name}) IN ('text', 'blob')",
    ),
    "postgresql": _SqlForm(
        number=repr,
        is_missing=lambda name: f"({name} IS NULL OR CAST({name} AS double precision) = 'NaN')",
        date=lambda name: f"CAST(EXTRACT(EPOCH FROM {name}) / 86400.0 AS double precision)",
        text="text",
    ),
    "duckdb": _SqlForm(
        # Without an exponent it would be a decimal number, which is rounded otherwise.
        number=lambda value: text if "e" in (text := repr(value)) else f"{text}e0",
        is_missing=lambda name: f"({name} IS NULL OR isnan(CAST({name} AS DOUBLE)))",
        date=lambda name: f"(EXTRACT(EPOCH FROM {name}) / 86400.0e0)",
        text="VARCHAR",
    ),
}


def to_sql(tree: Tree, dialect: str = "sqlite", table: str = "cases", missing: bool = True) -> str:
    """Return a query that adds the columns `answer` and `price` to the rows of a table.

    Parameters
    ----------
    tree : Tree
    dialect : str
        "sqlite", "postgresql" or "duckdb".
    table : str
        The table with a column for every test.
    missing : bool
        As for `decision_program`; without rules for missing values, the answer and the price of such a row are NULL.

    Examples
    --------
    >>> tree = Tree.from_json('''{
    ...   "format": "worthwhile-tree", "version": 1, "classes": ["well", "sick"],
    ...   "columns": [{"name": "fever", "kind": "numeric"}], "costs": {"tests": {"fever": 2.0}},
    ...   "nodes": [{"test": "fever", "threshold": 38.0, "children": [1, 2]},
    ...             {"answer": "well"}, {"answer": "sick"}]}''')
    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.executescript("CREATE TABLE cases (fever REAL); INSERT INTO cases VALUES (36.8), (39.5)")
    >>> database.execute(to_sql(tree)).fetchall()
    [(36.8, 2, 'well', 2.0), (39.5, 3, 'sick', 2.0)]
    """
    if dialect not in DIALECTS:
        raise ValueError(f"unknown dialect {dialect!r}; choose from {', '.join(DIALECTS)}")
    return _SqlWriter(tree, DIALECTS[dialect], missing).query(table)


class _SqlWriter:
    """Writes a program as nested CASE expressions."""

    def __init__(self, tree: Tree, dialect: _SqlForm, missing: bool) -> None:
        self._tree, self._dialect = tree, dialect
        self._program = decision_program(tree, missing)
        self._number = {verdict: at for at, verdict in enumerate(self._program.verdicts, 1)}
        self._name = {test: _quoted(tree.columns[test]) for test in self._program.asked()}

    def query(self, table: str) -> str:
        verdicts = self._number.items()
        labels = [plain(label) for label in self._tree.answers]
        literal = _literal if len({isinstance(label, str) for label in labels}) == 1 else _as_text
        answers = [f"    WHEN {at} THEN {literal(labels[verdict.answer])}" for verdict, at in verdicts]
        prices = [f"    WHEN {at} THEN {self._dialect.number(verdict.price)}" for verdict, at in verdicts]
        return "\n".join(
            [
                "SELECT cases.*,",
                f"  CASE {RULE}",
                *answers,
                "  END AS answer,",
                f"  CASE {RULE}",
                *prices,
                "  END AS price",
                "FROM (",
                "  SELECT source.*,",
                *self._root(),
                f"    AS {RULE}",
                f"  FROM {_quoted(table)} AS source",
                ") AS cases",
                "",
            ]
        )

    def _root(self) -> list[str]:
        lines = self._lines(self._program.root, 2)
        wrong = [
            self._dialect.refuses(name)
            for test, name in self._name.items()
            if self._dialect.refuses is not None and self._is_number(test)
        ]
        if not wrong:
            return lines
        return [f"    CASE WHEN {' OR '.join(wrong)} THEN NULL ELSE", *lines, "    END"]

    def _is_number(self, test: int) -> bool:
        return self._tree.schema.values[test] is None and self._tree.columns[test] not in self._tree.schema.dates

    def _lines(self, step: Step, level: int) -> list[str]:
        pad = "  " * level
        if isinstance(step, Refusal):
            return [f"{pad}NULL"]
        if isinstance(step, Verdict):
            return [f"{pad}{self._number[step]}"]
        lines = [f"{pad}CASE"]
        for condition, child in self._branches(step):
            below = self._lines(child, level + 2)
            lead = "ELSE" if condition is None else f"WHEN {condition} THEN"
            lines += [f"{pad}  {lead} {below[0].strip()}"] if len(below) == 1 else [f"{pad}  {lead}", *below]
        return [*lines, f"{pad}END"]

    def _branches(self, step: ProgramStep) -> list[tuple[str | None, Step]]:
        """Return the conditions of a question with what follows; None: otherwise."""
        name, values = self._name[step.test], self._tree.schema.values[step.test]
        found: list[tuple[str | None, Step]] = []
        if values is not None:
            found = [
                (self._one_of(name, values, part), child)  # type: ignore[arg-type]
                for part, child in zip(step.parts, step.children, strict=True)
            ]
            return [*found[:-1], (None, found[-1][1])] if step.missing is None else [*found, (None, step.missing)]
        is_date = self._tree.columns[step.test] in self._tree.schema.dates
        if step.missing is not None:
            found.append((f"{name} IS NULL" if is_date else self._dialect.is_missing(name), step.missing))
        value = self._dialect.date(name) if is_date else name
        for part, child in zip(step.parts, step.children[:-1], strict=True):
            assert isinstance(part, Cut)
            found.append((f"{value} {'<' if part.strict else '<='} {self._dialect.number(part.value)}", child))
        return [*found, (None, step.children[-1])]

    def _one_of(self, name: str, values: tuple[str, ...], part: tuple[str, ...]) -> str:
        """Return the condition that a column has one of some values, as databases may write them."""
        texts = texts_of(values, part)
        texts += [f"{text}.0" for text in texts if text.lstrip("-").isdigit()]
        return f"CAST({name} AS {self._dialect.text}) IN ({', '.join(map(_as_text, dict.fromkeys(texts)))})"


def _quoted(name: str) -> str:
    if "\0" in name:
        raise ExportError(f"the name {name!r} contains a character that SQL does not allow")
    return '"' + name.replace('"', '""') + '"'


def _as_text(value: Any) -> str:
    if "\0" in str(value):
        raise ExportError(f"the value {value!r} contains a character that SQL does not allow")
    return "'" + str(value).replace("'", "''") + "'"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return _as_text(value) if isinstance(value, str) else repr(value)
