"""Error costs: turns every form that `Costs` accepts into one checked table.

A table is either uniform (one number for every wrong answer) or a matrix ``cells[truth][answer]``. Its answers are the
true classes followed by the *reject answers*, such as "unknown", which are never a true class.
"""

from __future__ import annotations

import difflib
import math
import numbers
import reprlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

EntryKey = tuple[str, ...]

FORMS = (
    "a number, a mapping {truth: {answer: cost}}, a DataFrame (index: truth, columns: answer) or a matrix with classes="
)


# Amounts are added up, multiplied by weights of cases and divided by each other; within these limits nothing overflows.
MIN_AMOUNT, MAX_AMOUNT = 1e-100, 1e100
# Nodes have a weight, and errors a cost, for every class: 128 MiB for a tree with a leaf for each of so many classes.
MAX_CLASSES = 4096


class CostsError(ValueError):
    """An error in a description of costs; `entry` names the entry, so that file readers can add file and line."""

    def __init__(self, message: str, entry: EntryKey = ()) -> None:
        super().__init__(message)
        self.entry = entry


_LONG = reprlib.Repr()
_LONG.maxstring = 120


def show(value: Any, long: bool = False) -> str:
    """Return a value as text for a message: shortened, numpy scalars as plain numbers.

    `long`: less shortened, where two names may differ in the middle.
    """
    try:
        plain = value.item() if isinstance(value, np.generic) else value
        return _LONG.repr(plain) if long else reprlib.repr(plain)
    except ValueError:  # Python refuses to write thousands of digits
        return "a number with thousands of digits"


def listing(names: Iterable[Any], most: int = 8) -> str:
    """Return names as text for a message; long lists are shortened."""
    shown = [show(name) for name in names]
    return (
        ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "") if shown else "none"
    )


def suggest(name: str, valid: Iterable[str], complete: bool = False) -> str:
    """Suggest the valid names closest to a wrong one, or list the valid names; `complete`: list all of them anyway."""
    if complete:
        names = list(valid)
        words = suggest(name, names)
        return f"{words} (all: {', '.join(names)})" if words.startswith("did") else f"valid: {', '.join(names)}"
    by_lower = {text.lower(): text for text in valid}
    if not by_lower:
        return "there are none"
    close = difflib.get_close_matches(name.lower(), by_lower, n=3)
    return (
        f"did you mean {listing(by_lower[text] for text in close)}?"
        if close
        else f"valid: {listing(by_lower.values())}"
    )


def nearest(label: Any, valid: Iterable[Any]) -> str:
    """Return "; did you mean …?" with the class that is closest to a wrong one; "" if none is close.

    Classes are alike if they differ in capitals or white space only, or are the same number.

    Examples
    --------
    >>> nearest("yes ", ["No", "Yes"]), nearest("01", ["0", "1"]), nearest("sik", ["sick", "well"]), nearest(3, [1, 2])
    ("; did you mean 'Yes'?", "; did you mean '1'?", "; did you mean 'sick'?", '')
    """
    labels = list(valid)
    own = plain_spelling(label)
    found = [other for other in labels if plain_spelling(other) == own]
    if not found and not _is_number(own):
        by_spelling = {plain_spelling(other): other for other in labels}
        found = [by_spelling[text] for text in difflib.get_close_matches(own, by_spelling, n=1, cutoff=0.8)]
    return f"; did you mean {show(found[0], long=True)}?" if found else ""


def plain_spelling(label: Any) -> str:
    """Return a class in lower case without surplus white space, and a number in its plainest form.

    Examples
    --------
    >>> plain_spelling(" Not  Sure"), plain_spelling("01"), plain_spelling(1.0), plain_spelling("nan")
    ('not sure', '1', '1', 'nan')
    """
    text = " ".join(str(label).casefold().split())
    return f"{float(text):.15g}" if _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def is_missing(value: Any) -> bool:
    """Return whether a single value is missing: None, NaN or pandas.NA.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    # by name, since pandas is not a dependency
    return type(value).__name__ in ("NAType", "NaTType")


def number(value: Any, what: str, entry: EntryKey) -> float:
    """Check that `value` is a finite number and return it as a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise CostsError(f"{what} must be a number, not {show(value)}", entry)
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    if not math.isfinite(result):
        raise CostsError(f"{what} must be finite, not {show(value)}", entry)
    if result and not MIN_AMOUNT <= abs(result) <= MAX_AMOUNT:
        raise CostsError(f"{what} must be 0 or from {MIN_AMOUNT:g} to {MAX_AMOUNT:g}, not {show(value)}", entry)
    return result + 0.0  # -0.0 becomes 0.0, so that equal costs are written the same


def plain_label(label: Any) -> Hashable:
    """Return a class label as a plain Python value; raise an error if it cannot be a label."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str) and value:
        return str(value)
    if isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise CostsError(
        f"{show(label)} is not a class label; valid: non-empty strings, finite numbers, True and False", ("error",)
    )


def label_key(label: Hashable) -> str:
    """Return a label as written in files: whole floats are written as integers."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


class LabelIndex:
    """Finds labels by equality, or else by their text: files contain only strings.

    Examples
    --------
    >>> index = LabelIndex(["1", "2"])
    >>> index.find(1.0), index.find("2"), index.find(3)
    ('1', '2', None)
    """

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self._labels: dict[Hashable, Hashable] = {}
        self._by_text: dict[str, Hashable] = {}
        for label in labels:
            self.add(label)

    def find(self, label: Any) -> Hashable | None:
        """Return the label in the index that matches `label`, or None."""
        plain = plain_label(label)
        if plain in self._labels:
            return self._labels[plain]
        for text in (str(plain), label_key(plain)):
            if text in self._by_text:
                return self._by_text[text]
        return None

    def add(self, label: Any) -> Hashable:
        """Add a new label; raise an error if it matches one in the index."""
        plain = plain_label(label)
        known = self.find(plain)
        if known is not None:
            twice = (
                f"class {show(plain)} appears twice"
                if known == plain
                else f"classes {show(known)} and {show(plain)} clash"
            )
            raise CostsError(f"errors: {twice}; every class needs a unique label", ("error", label_key(plain)))
        self._labels[plain] = plain
        for text in (str(plain), label_key(plain)):
            self._by_text[text] = plain
        return plain


@dataclass(frozen=True)
class ErrorTable:
    """Checked error costs: `uniform`, or true classes, answers and cells."""

    uniform: float | None
    truths: tuple[Hashable, ...] = ()
    answers: tuple[Hashable, ...] = ()
    cells: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def parse(cls, errors: Any, classes: Sequence[Any] | None) -> ErrorTable:
        """Read any form of `errors` that `Costs` accepts."""
        is_frame = hasattr(errors, "index") and hasattr(errors, "columns") and hasattr(errors, "to_numpy")
        is_matrix = isinstance(errors, (list, tuple, np.ndarray)) and not is_frame
        if is_matrix:
            return cls._from_matrix(errors, classes)
        if classes is not None:
            raise CostsError(f"classes= is only valid with errors as a matrix; errors is {show(errors)}", ("error",))
        if is_frame:
            return cls._from_rows(
                list(errors.index), [list(zip(errors.columns, row, strict=True)) for row in errors.to_numpy()]
            )
        if isinstance(errors, Mapping):
            return cls._from_mapping(errors)
        if isinstance(errors, numbers.Real):
            return cls(uniform=number(errors, "errors", ("error", "*", "*")))
        raise CostsError(f"errors must be {FORMS}, not {show(errors)}", ("error",))

    @classmethod
    def _from_mapping(cls, errors: Mapping[Any, Any]) -> ErrorTable:
        for truth, row in errors.items():
            if not isinstance(row, Mapping):
                where = ("error", label_key(plain_label(truth)))
                raise CostsError(f"errors[{show(truth)}] must be a mapping {{answer: cost}}, not {show(row)}", where)
        return cls._from_rows(list(errors), [list(row.items()) for row in errors.values()])

    @classmethod
    def _from_matrix(cls, errors: Any, classes: Sequence[Any] | None) -> ErrorTable:
        given = np.atleast_1d(errors) if isinstance(errors, np.ndarray) else errors
        rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else None for row in given]
        widths = {len(row) for row in rows if row is not None}
        if not rows or None in rows or len(widths) != 1 or (width := widths.pop()) < len(rows):
            raise CostsError(
                "errors as a matrix needs one row per class, all of the same length, and a column for every class "
                f"(additional columns are reject answers), not {show(errors)}",
                ("error",),
            )
        if classes is None:
            raise CostsError(f"errors as a matrix needs classes=, the names of its {width} columns", ("error",))
        labels = list(classes) if not isinstance(classes, str) else [classes]
        if len(labels) != width:
            raise CostsError(
                f"errors has {width} columns but classes= has {len(labels)} names: {listing(labels)}", ("error",)
            )
        return cls._from_rows(labels[: len(rows)], [list(zip(labels, row or (), strict=True)) for row in rows])

    @classmethod
    def _from_rows(cls, truths: list[Any], rows: list[list[tuple[Any, Any]]]) -> ErrorTable:
        """Build the table from (answer, cost) pairs per true class; a missing diagonal is 0, other gaps raise."""
        if not truths:
            raise CostsError(f"errors is empty; it must be {FORMS}", ("error",))
        index = LabelIndex()
        answers = [index.add(truth) for truth in truths]
        filled: list[dict[Hashable, float]] = []
        for truth, row in zip(answers[:], rows, strict=True):
            filled.append({})
            for answer, cost in row:
                known = index.find(answer)
                if known is None:
                    known = index.add(answer)
                    answers.append(known)
                where = ("error", label_key(truth), label_key(known))
                if known in filled[-1]:
                    raise CostsError(f"errors[{show(truth)}] has answer {show(known)} twice", where)
                filled[-1][known] = number(cost, f"errors[{show(truth)}][{show(answer)}]", where)
        plain_truths = tuple(answers[: len(truths)])
        for truth, entries in zip(plain_truths, filled, strict=True):
            entries.setdefault(truth, 0.0)
            for answer in answers:
                if answer not in entries:
                    alike = [a for a in answers if a != answer and plain_spelling(a) == plain_spelling(answer)]
                    both = (
                        f"; {show(answer, long=True)} and {show(alike[0], long=True)} look alike: use one spelling"
                        if alike
                        else ""
                    )
                    raise CostsError(
                        f"errors[{show(truth)}] has no cost for answer {show(answer)}; every class needs a cost for "
                        f"each of the answers {listing(a for a in answers if a != truth)}{both}",
                        ("error", label_key(truth), label_key(answer)),
                    )
        cells = tuple(tuple(entries[answer] for answer in answers) for entries in filled)
        return cls(None, plain_truths, tuple(answers), cells)

    def nested(self) -> float | dict[Hashable, dict[Hashable, float]]:
        """Return the number, or the full mapping {truth: {answer: cost}}."""
        if self.uniform is not None:
            return self.uniform
        return {
            truth: dict(zip(self.answers, row, strict=True)) for truth, row in zip(self.truths, self.cells, strict=True)
        }

    def with_string_labels(self) -> float | dict[str, dict[str, float]]:
        """Return the same with labels as written in files; two tables are equal if these are."""
        nested = self.nested()
        if isinstance(nested, float):
            return nested
        return {label_key(t): {label_key(a): cost for a, cost in row.items()} for t, row in nested.items()}

    def matrix(self, classes: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
        """Return answers and M[truth][answer] for the given classes; see `Costs.error_matrix`."""
        labels = list(classes)
        if len(labels) > MAX_CLASSES:
            raise CostsError(
                f"there are {len(labels):,} classes ({listing(labels, 3)}), but at most {MAX_CLASSES:,} are supported: "
                "learners need the cost of every answer for every class, and nodes a weight for each; "
                "is this the target column?",
                ("error",),
            )
        found = self.rows_of(labels)
        if self.uniform is not None:
            return labels, self.uniform * (1.0 - np.eye(len(labels)))
        rejects = self.answers[len(self.truths) :]
        place = {answer: column for column, answer in enumerate(self.answers)}  # the true classes come first
        columns = [place[answer] for answer in (*found, *rejects)]
        rows = columns[: len(found)]
        return [*labels, *rejects], np.array(self.cells, dtype=np.float64)[np.ix_(rows, columns)]

    def rows_of(self, labels: Sequence[Any]) -> list[Hashable]:
        """Return the true class of the table for each class; raise an error if the classes do not fit the table.

        Time and memory grow with the number of classes, not with its square. A uniform cost has no classes: any fit.
        """
        if not labels:
            raise CostsError("classes is empty; give at least one class", ("error",))
        if self.uniform is not None:
            if len(set(labels)) != len(labels):
                raise CostsError(f"classes contains a class twice: {listing(labels)}", ("error",))
            return list(labels)
        index = LabelIndex(self.truths)
        found = [index.find(label) for label in labels]
        seen: set[Hashable] = set()
        for label, truth in zip(labels, found, strict=True):
            if truth is None:
                raise CostsError(
                    f"errors has no row for class {show(label, long=True)}; its classes are {listing(self.truths)}"
                    f"{nearest(label, self.truths)}",
                    ("error",),
                )
            if truth in seen:
                raise CostsError(f"classes contains {show(truth)} twice: {listing(labels)}", ("error",))
            seen.add(truth)
        return [truth for truth in found if truth is not None]
