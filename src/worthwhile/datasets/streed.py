"""The benchmark of pystreed: fifteen problems of Lomax (2013) with prices, three levels of error costs, fixed splits.

The files are in the folder ``streed_costs`` of ``WORTHWHILE_DATA``:

- ``NAME.txt.gz``: a case a line, the class and then 0/1 columns, separated by blanks;
- ``NAME-test-rows.txt.gz``: a split a line, the numbers of its test cases, from 0; all others are its training cases;
- ``NAME-LEVEL-costs.csv``: a row of error costs per true class, a header, then an attribute a line: name, price as the
  first of its group, price after another one of its group, group (``x``: none), first and last 0/1 column.

Paying for an attribute reveals all its columns, and an attribute costs less after another one of its group. How that
is written as `Costs`:

- the columns of an attribute are free members of a group whose common price is that of the attribute;
- a group of attributes with one discount for all is a second group of their columns: the discount is its common price;
- in a group with several discounts the price depends on which attribute comes first, which no common price can say.
  There, the first column of an attribute has its price, a surcharge gives the discount after any of the other
  attributes, and the further columns are free and require the first.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs, Test
from worthwhile.costs.surcharges import Surcharge
from worthwhile.datasets.loading import FOLDER_VARIABLE, Dataset, data_folder
from worthwhile.table.frames import pandas_for

__all__ = ["STREED", "STREED_LEVELS", "StreedDataset", "load_streed"]

STREED = (
    "annealing",
    "breast",
    "car",
    "diabetes",
    "flare",
    "glass",
    "heart",
    "hepatitis",
    "iris",
    "krk",
    "mushroom",
    "nursery",
    "soybean",
    "tictactoe",
    "wine",
)
STREED_LEVELS = ("low", "middle", "high")
_FOLDER = "streed_costs"

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StreedDataset(Dataset):
    """A problem of the benchmark; besides what every `Dataset` has:

    Attributes
    ----------
    splits : list of (training rows, test rows)
        The fixed splits, as arrays of row numbers in rising order.
    """

    splits: list[tuple[Rows, Rows]] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class _Attribute:
    name: str
    first: Decimal  # price
    later: Decimal  # price after another one of its group
    group: str  # empty: none
    columns: range

    def column_names(self) -> list[str]:
        if len(self.columns) == 1:
            return [self.name]
        return [f"{self.name}.{place}" for place in range(len(self.columns))]


def load_streed(name: str, level: str, *, as_frame: bool | Literal["auto"] = "auto") -> StreedDataset:
    """Load a problem of pystreed's cost-sensitive benchmark from the folder ``WORTHWHILE_DATA``.

    Parameters
    ----------
    name : str
        One of `STREED`.
    level : {"low", "middle", "high"}
        The level of the error costs.
    as_frame : bool or "auto"
        Whether `X` is a pandas frame or a numpy array; "auto": a frame if pandas is installed.

    Returns
    -------
    StreedDataset
        `X` has the 0/1 columns as integers, called by their attribute and, if it has several, a number: "pain.0". `y`
        has the classes "0", "1", and so on. In `costs` the columns of an attribute share its price, and attributes of a
        group cost less after one another. `splits` has the 30 fixed splits.

    Raises
    ------
    ValueError
        If the problem does not exist, or a file is missing or damaged.

    Examples
    --------
    >>> heart = load_streed("heart", "low")  # doctest: +SKIP
    >>> heart.X.shape, len(heart.splits)  # doctest: +SKIP
    ((296, 20), 30)
    >>> heart.costs.price("thal.0"), heart.costs.price("thal.0", paid={"thalach"})  # doctest: +SKIP
    (102.9, 1.0)
    """
    for given, what, valid in ((name, "problem", STREED), (level, "level of error costs", STREED_LEVELS)):
        if given not in valid:
            raise ValueError(f"unknown {what} {given!r}; valid: {', '.join(valid)}")
    pandas = pandas_for(as_frame)
    folder = data_folder()
    if folder is None:
        raise ValueError(
            f"set the environment variable {FOLDER_VARIABLE} to a folder that contains {_FOLDER}/{name}.txt.gz"
        )
    folder /= _FOLDER
    errors, attributes = _read_costs(folder / f"{name}-{level}-costs.csv")
    y, X = _read_cases(folder / f"{name}.txt.gz", len(errors), attributes[-1].columns.stop)
    splits = _read_splits(folder / f"{name}-test-rows.txt.gz", len(y))
    names = [column for attribute in attributes for column in attribute.column_names()]
    classes = [str(label) for label in range(len(errors))]
    costs = Costs(**_price_list(attributes), errors=errors, classes=classes)
    description = (
        f"{len(y)} cases, {len(attributes)} attributes in {len(names)} columns of 0 and 1, {len(classes)} classes, "
        f"{len(splits)} splits, from {folder}. Prices and error costs ({level}) of Lomax (2013), as in the benchmark "
        "of pystreed."
    )
    table = X if pandas is None else pandas.DataFrame(X, columns=names)
    return StreedDataset(f"{name}-{level}", table, y.astype(str), costs, description, [], names, splits)


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the place, for error messages, and the fields of every line that is not blank."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, start=1):
                if fields := line.split():
                    yield f"{path}, line {number}", fields
    except FileNotFoundError:
        raise ValueError(f"{path}: the file is missing") from None
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from error


def _whole_numbers(fields: Iterable[str], place: str, stop: int) -> list[int]:
    """Return numbers from 0 to below `stop`."""
    found = []
    for text in fields:
        if not text.isascii() or not text.isdigit() or int(text) >= stop:
            raise ValueError(f"{place}: {text!r} must be a whole number from 0 to {stop - 1}")
        found.append(int(text))
    return found


def _read_cases(path: Path, n_classes: int, n_columns: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
    """Return the class and the columns of each case."""
    classes, rows = [], []
    for place, fields in _lines(path):
        if len(fields) != n_columns + 1:
            raise ValueError(f"{place}: {len(fields)} fields; the class and {n_columns} columns are needed")
        classes += _whole_numbers(fields[:1], place, n_classes)
        if wrong := next((text for text in fields[1:] if text not in ("0", "1")), ""):
            raise ValueError(f"{place}: {wrong!r} must be 0 or 1")
        rows.append(np.array(fields[1:], dtype=np.int8))
    if not rows:
        raise ValueError(f"{path}: no cases")
    return np.array(classes), np.array(rows)


def _read_splits(path: Path, n_cases: int) -> list[tuple[Rows, Rows]]:
    """Return the training rows and test rows of each split."""
    splits = []
    for place, fields in _lines(path):
        is_test = np.zeros(n_cases, dtype=np.bool_)
        is_test[_whole_numbers(fields, place, n_cases)] = True
        if is_test.sum() < len(fields):
            raise ValueError(f"{place}: a case is named twice")
        if is_test.all():
            raise ValueError(f"{place}: no case is left to train on")
        splits.append((np.flatnonzero(~is_test), np.flatnonzero(is_test)))
    if not splits:
        raise ValueError(f"{path}: no splits")
    return splits


def _read_costs(path: Path) -> tuple[list[list[float]], list[_Attribute]]:
    """Return the matrix of error costs and the attributes, which have all columns in turn."""
    errors: list[list[float]] = []
    attributes: list[_Attribute] = []
    lines = _lines(path)
    for place, fields in lines:
        if fields[0] == "Attribute-name":
            break
        errors.append([float(_amount(text, place)) for text in fields])
        if len(fields) != len(errors[0]):
            raise ValueError(f"{place}: {len(fields)} error costs, but the first row has {len(errors[0])}")
    else:
        raise ValueError(f"{path}: no line that begins with Attribute-name")
    if len(errors) < 2 or len(errors) != len(errors[0]):
        raise ValueError(f"{path}: the error costs must be a square of at least two rows")
    for place, fields in lines:
        attributes.append(_attribute(fields, place, attributes[-1].columns.stop if attributes else 0))
        if fields[0] in {attribute.name for attribute in attributes[:-1]}:
            raise ValueError(f"{place}: there are two attributes {fields[0]!r}")
    if not attributes:
        raise ValueError(f"{path}: no attributes")
    return errors, attributes


def _attribute(fields: Sequence[str], place: str, start: int) -> _Attribute:
    """Read an attribute whose columns begin at `start`."""
    if len(fields) != 6:
        raise ValueError(f"{place}: {len(fields)} fields; needed: name, two prices, group, first and last column")
    name, first, later, group = fields[0], _amount(fields[1], place), _amount(fields[2], place), fields[3]
    if group == "x" and first != later:
        raise ValueError(f"{place}: {name} has two prices but no group")
    begin, end = _whole_numbers(fields[4:], place, 1_000_000)
    if begin != start or end < begin:
        raise ValueError(f"{place}: {name} has columns {begin} to {end}, but they must begin at {start}")
    return _Attribute(name, first, later, "" if group == "x" else group, range(begin, end + 1))


def _amount(text: str, place: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{place}: {text!r} is not a number") from None
    if not value.is_finite() or value < 0:
        raise ValueError(f"{place}: {text!r} must be a number of at least 0")
    return value


def _price_list(attributes: Sequence[_Attribute]) -> dict[str, Any]:
    """Return tests and groups, as described at the top of this module."""
    tests: dict[str, Test] = {}
    groups: dict[str, float] = {}
    for attribute in attributes:
        names = attribute.column_names()
        others = [own for own in attributes if own.group == attribute.group and own is not attribute]
        if not attribute.group or not others:
            tests |= _panel(names, attribute.name, attribute.first, (), groups)
            continue
        discount = attribute.first - attribute.later
        if all(own.first - own.later == discount for own in others) and discount >= 0:
            shared = f"group {attribute.group}"
            groups[shared] = float(discount)
            tests |= _panel(names, attribute.name, attribute.later, (shared,), groups)
            continue
        before = [own.column_names()[0] for own in others]
        surcharges = [Surcharge(float(-discount), after_any=before)] if discount else []
        tests[names[0]] = Test(float(attribute.first), surcharges=surcharges)
        tests |= {name: Test(0.0, requires=names[:1]) for name in names[1:]}
    return {"tests": tests, "groups": groups}


def _panel(
    names: Sequence[str], attribute: str, price: Decimal, shared: tuple[str, ...], groups: dict[str, float]
) -> dict[str, Test]:
    """Return the tests of columns that are revealed together for one price; adds their group to `groups`."""
    if len(names) == 1:
        return {names[0]: Test(float(price), group=shared)}
    groups[attribute] = float(price)
    return {name: Test(0.0, group=(attribute, *shared)) for name in names}
