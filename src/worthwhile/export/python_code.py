"""A tree as a Python file that needs no other package."""

from __future__ import annotations

from typing import Any

from worthwhile.export.program import (
    Cut,
    DecisionProgram,
    ProgramStep,
    Refusal,
    Step,
    Verdict,
    decision_program,
    texts_of,
)
from worthwhile.tree.json_format import plain
from worthwhile.tree.tree import Tree

__all__ = ["to_python"]

LEVELS = 12  # of questions in one function; Python allows 100 levels of indentation
HEAD = '''\
"""{title}

decide(case) returns the answer and the price of the tests. A case is a dict of test to value. {missing}
"""

import datetime
import math
from typing import NamedTuple


class Decision(NamedTuple):
    """An answer, and what the tests for it cost."""

    answer: object
    price: float


def _number(value):
    """Return a number; None: missing. A date is a number of days since 1970-01-01."""
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1)
    if isinstance(value, datetime.date):
        return float((value - datetime.date(1970, 1, 1)).days)
    if value is None or value == "":
        return None
    value = float(value)
    return None if math.isnan(value) else value


def _text(value):
    """Return a nominal value as text; None: missing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _missing(test):
    raise ValueError(f"the value of {{test!r}} is missing")


TESTS = {tests}
OUTCOMES = ({outcomes},)


def decide(case):
    """Return the answer to a case and the price of its tests."""
    return OUTCOMES[_part_0({{name: read(case.get(name)) for name, read in TESTS.items()}})]
'''


def to_python(tree: Tree, missing: bool = True) -> str:
    """Return a tree as Python code with a function ``decide(case)``; it imports the standard library only.

    Parameters
    ----------
    tree : Tree
    missing : bool
        As for `decision_program`; without rules for missing values, ``decide`` raises a ValueError that names the test.

    Examples
    --------
    >>> tree = Tree.from_json('''{
    ...   "format": "worthwhile-tree", "version": 1, "classes": ["well", "sick"],
    ...   "columns": [{"name": "fever", "kind": "numeric"}], "costs": {"tests": {"fever": 2.0}},
    ...   "nodes": [{"test": "fever", "threshold": 38.0, "children": [1, 2]},
    ...             {"answer": "well"}, {"answer": "sick"}]}''')
    >>> names = {}
    >>> exec(to_python(tree), names)
    >>> names["decide"]({"fever": 39.5})
    Decision(answer='sick', price=2.0)
    """
    program = decision_program(tree, missing)
    return _Writer(program, missing).text()


class _Writer:
    """Writes a program as functions of a few levels each."""

    def __init__(self, program: DecisionProgram, missing: bool) -> None:
        self._program, self._missing = program, missing
        self._schema = program.tree.schema
        self._number = {verdict: at for at, verdict in enumerate(program.verdicts)}
        self._parts: dict[int, int] = {}  # the function of a question
        self._waiting: list[ProgramStep] = []

    def text(self) -> str:
        tree = self._program.tree
        tests = {tree.columns[test]: test for test in self._program.asked()}
        shown = ", ".join(
            f"{name!r}: {'_number' if self._schema.values[test] is None else '_text'}" for name, test in tests.items()
        )
        outcomes = ", ".join(
            f"Decision({plain(tree.answers[verdict.answer])!r}, {verdict.price!r})"
            for verdict in self._program.verdicts
        )
        rule = (
            "None, NaN, an empty text or no entry is an unavailable test."
            if self._missing
            else "A missing value raises an error."
        )
        lines = [HEAD.format(title=_title(tree), missing=rule, tests=f"{{{shown}}}", outcomes=outcomes)]
        root = self._program.root
        if isinstance(root, ProgramStep):
            self._call(root)
        else:
            lines.append(f"\ndef _part_0(value):\n    return {self._end(root)}\n")
        while self._waiting:
            question = self._waiting.pop(0)
            lines.append(f"\ndef _part_{self._parts[id(question)]}(value):")
            lines += [*self._lines(question, 1, LEVELS), ""]
        return "\n".join(lines).rstrip("\n") + "\n"

    def _call(self, question: ProgramStep) -> str:
        """Return the call of the function of a question, which is written later."""
        if id(question) not in self._parts:
            self._parts[id(question)] = len(self._parts)
            self._waiting.append(question)
        return f"_part_{self._parts[id(question)]}(value)"

    def _end(self, step: Step) -> str:
        if isinstance(step, Refusal):
            return f"_missing({self._program.tree.columns[step.test]!r})"
        assert isinstance(step, Verdict)
        return str(self._number[step])

    def _lines(self, step: Step, level: int, levels: int) -> list[str]:
        pad = "    " * level
        if not isinstance(step, ProgramStep):
            return [f"{pad}return {self._end(step)}"]
        if levels == 0:
            return [f"{pad}return {self._call(step)}"]
        value = f"value[{self._program.tree.columns[step.test]!r}]"
        lines: list[str] = []
        is_numeric = self._schema.values[step.test] is None
        if is_numeric and step.missing is not None:
            lines += [f"{pad}if {value} is None:", *self._lines(step.missing, level + 1, levels - 1)]
        for at, child in enumerate(step.children):
            part = step.parts[at] if at < len(step.parts) else None
            last = at == len(step.children) - 1 and (is_numeric or step.missing is None)
            if last:
                lines += self._lines(child, level, levels - 1)
            else:
                lines += [
                    f"{pad}if {self._condition(step.test, value, part)}:",
                    *self._lines(child, level + 1, levels - 1),
                ]
        if not is_numeric and step.missing is not None:
            lines += self._lines(step.missing, level, levels - 1)
        return lines

    def _condition(self, test: int, value: str, part: Any) -> str:
        if isinstance(part, Cut):
            return f"{value} {'<' if part.strict else '<='} {part.value!r}"
        texts = texts_of(self._schema.values[test] or (), part)
        return f"{value} in ({', '.join(map(repr, texts))},)"


def _title(tree: Tree) -> str:
    about = tree.costs.about.get("title", "")
    what = f"A decision tree of worthwhile{f': {about}' if about else ''}."
    return what.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
