"""Loads data sets with their prices; the docstring of the package describes the files."""

from __future__ import annotations

import csv
import gzip
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs, Test
from worthwhile.datasets import concepts
from worthwhile.datasets.preparation import OTHERS, Column
from worthwhile.datasets.preparation import TURNEY as TURNEY_PROBLEMS
from worthwhile.datasets.random_prices import random_costs
from worthwhile.table.frames import pandas_for

__all__ = ["CONCEPTS", "TURNEY", "Dataset", "load", "make", "names", "random_costs"]

BUNDLED = ("bupa", "heart", "pima")
CONCEPTS = tuple(concepts.CONCEPTS)
TURNEY = tuple(TURNEY_PROBLEMS)
_PREPARED = {**TURNEY_PROBLEMS, **OTHERS}
FOLDER_VARIABLE = "WORTHWHILE_DATA"

_BUNDLE = Path(__file__).parent / "data"
_SUFFIXES = (".csv", ".csv.gz")
_TURNEY_PRICES = Path("costs") / "turney1995_test_costs.csv"
# Turney (1995), section 4, used seven uniform error costs from 10 to 10,000 dollars; this is the middle one.
_TURNEY_ERROR = 500.0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases with their classes and the prices of their tests.

    Attributes
    ----------
    name : str
        The name it was loaded with.
    X : pandas.DataFrame or numpy.ndarray
        One row per case, one column per test. Frame: nominal columns have the dtype category, numeric ones float.
        Array: floats if every column is numeric, otherwise objects (float for numeric values, str for nominal ones).
        Missing values are NaN, in the nominal columns of an array None.
    y : numpy.ndarray of str
        The class of each case.
    costs : Costs
        Prices of the tests and costs of the errors.
    description : str
        What the cases are, where they come from, and what was changed.
    nominal : list of str
        The names of the nominal columns.
    feature_names : list of str
        The names of all columns.
    """

    name: str
    X: Any = field(repr=False)
    y: npt.NDArray[np.str_] = field(repr=False)
    costs: Costs = field(repr=False)
    description: str = field(repr=False)
    nominal: list[str]
    feature_names: list[str]


@dataclass(frozen=True)
class _Facts:
    """What cannot be seen from the CSV file of a data set."""

    codes: tuple[str, ...] = ()  # columns of numbers that are codes of nominal values
    code_span: slice | None = None  # the same, by position in the file
    drop: tuple[str, ...] = ()  # columns that are not tests
    question_mark_is_value: bool = False
    prices: str | None = None  # its name in the list of Turney's prices
    computed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # free tests and what they are computed from
    note: str = ""


_ALL = slice(None)
_THYROID = _Facts(
    code_span=slice(1, 16),
    drop=("FTI",),
    prices="thyroid_ann_train",
    note="FTI is left out: it is computed from TT4 and T4U, and Turney (1995) gives it no price.",
)

_FACTS: dict[str, _Facts] = {
    "adult": _Facts(drop=("part",)),
    "annealing": _Facts(question_mark_is_value=True, note='"?" is a value and means "not applicable".'),
    "boston_housing": _Facts(note="The class is a number (a house price): meant for regression."),
    "bupa_raw": _Facts(note="The class is the selector of a data split, not a diagnosis: use bupa."),
    "covtype": _Facts(code_span=slice(10, 54)),
    "credit_default_taiwan": _Facts(codes=("SEX", "EDUCATION", "MARRIAGE")),
    "echocardiogram_raw": _Facts(note="survival and still_alive reveal the class: use echocardiogram."),
    "heart_cleve_mod": _Facts(prices="heart_cleve_mod"),
    "heart_cleveland": _Facts(codes=("sex", "cp", "fbs", "restecg", "exang", "slope", "thal")),
    "hepatitis": _Facts(codes=("histology",), code_span=slice(1, 13), prices="hepatitis"),
    "monks1_test": _Facts(code_span=_ALL),
    "monks1_train": _Facts(code_span=_ALL),
    "monks2_test": _Facts(code_span=_ALL),
    "monks2_train": _Facts(code_span=_ALL),
    "monks3_test": _Facts(code_span=_ALL),
    "monks3_train": _Facts(code_span=_ALL),
    "nettalk_words": _Facts(note="One word per row; the task of predicting a letter's sound must be built from it."),
    "solar_flare1": _Facts(code_span=_ALL),
    "solar_flare_full": _Facts(code_span=_ALL, drop=("part", "target_M_flares", "target_X_flares")),
    "tae": _Facts(codes=("native_speaker", "instructor", "course", "semester")),
    "thyroid-fti": replace(_THYROID, drop=(), computed={"FTI": ("TT4", "T4U")}, note=""),
    "thyroid_ann_test": _THYROID,
    "thyroid_ann_train": _THYROID,
    "vowel": _Facts(drop=("Train_or_Test", "Speaker_Number")),
}


def load(name: str, *, as_frame: bool | Literal["auto"] = "auto") -> Dataset:
    """Load a data set with its price list.

    Parameters
    ----------
    name : str
        One of `names()`: a bundled data set, a problem of Turney (1995), "thyroid-fti", or a file in the folder
        given by the environment variable ``WORTHWHILE_DATA``. A file is not used if its name is one of the former.
    as_frame : bool or "auto"
        Whether `X` is a pandas frame or a numpy array; "auto": a frame if pandas is installed.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the data set does not exist, or its file does not have the format described in `worthwhile.datasets`.
    ImportError
        If `as_frame` is True and pandas is not installed.

    Examples
    --------
    >>> heart = load("heart")
    >>> heart.X.shape
    (303, 13)
    >>> heart.nominal
    ['sex', 'cp', 'fbs', 'restecg', 'exang', 'slope', 'thal']
    >>> heart.y[:3].tolist()
    ['buff', 'sick', 'sick']
    >>> round(heart.costs.price("chol"), 2), round(heart.costs.price("chol", paid={"fbs"}), 2)
    (7.27, 5.17)
    >>> bupa = load("turney-bupa")
    >>> bupa.X.shape, round(bupa.costs.total_price(), 2)
    ((345, 5), 30.54)
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a data set must be a string, got {name!r}")
    pandas = pandas_for(as_frame)
    preparation = _PREPARED.get(name)
    source = preparation.source if preparation else name
    path = _BUNDLE / f"{source}.csv" if source in BUNDLED else _find(name, source)
    facts = _FACTS.get(name) or _FACTS.get(source, _Facts())
    header, columns = _read(path)
    y = np.array(columns.pop())
    kept, nominal = _columns(header, columns, facts)
    if preparation:
        kept, y = preparation.step(kept, y)
    if source in BUNDLED:
        costs = Costs.read(_BUNDLE / f"{source}.toml")
        description = _section(source)
    else:
        costs = _folder_costs(path.parent, facts, list(kept))
        description = _describe(path, y, facts, list(kept), nominal)
    if preparation:
        description = f"{preparation.note}\n\n{description}"
    X = _array(kept, nominal) if pandas is None else _frame(kept, nominal, pandas)
    return Dataset(name, X, y, costs, description, nominal, list(kept))


def names() -> list[str]:
    """List the names that `load` accepts: bundled sets, problems of `TURNEY`, files in ``WORTHWHILE_DATA``.

    Problems whose file is not in the folder are left out.

    Examples
    --------
    >>> names()[:3]
    ['bupa', 'heart', 'pima']
    """
    folder = data_folder()
    # The folder may contain other CSV files; data sets have `class` as their last column.
    files = ((path, suffix) for suffix in _SUFFIXES for path in folder.glob(f"*{suffix}")) if folder else ()
    found = {path.name.removesuffix(suffix) for path, suffix in files if _ends_in_class(path)} | set(BUNDLED)
    made = [name for name, preparation in _PREPARED.items() if preparation.source in found]
    return [*BUNDLED, *made, *sorted(found.difference(BUNDLED, _PREPARED))]


def make(
    name: str, random_state: Any = None, *, n_cases: int | None = None, as_frame: bool | Literal["auto"] = "auto"
) -> Dataset:
    """Draw the cases of a synthetic problem that is hard for greedy learners.

    The problems are those of Esmeir & Markovitch (2008), Appendix A and Table 5. Bits are nominal, both
    values are equally likely, and there is no noise. The class is:

    - ``multiplexer-20``, 615 cases (Table 5; the text of the paper says 500): four address bits, a0 the highest,
      select one of the sixteen data bits d0 to d15;
    - ``xor-5``, 200 cases: the parity of b0 to b4; b5 to b9 are irrelevant;
    - ``xor-3d``, 200 cases: the sign of x0 · x1 · x2, numbers from -1 to 1; x3 to x5 are irrelevant;
    - ``multi-xor``, 200 cases of 11 bits: b0 b1 = 00: b2 ⊕ b3; 01: b4 ⊕ b5; 10: b6 ⊕ b7; 11: b8 ⊕ b9 ⊕ b10;
    - ``multi-and-or``, 200 cases of 11 bits: b0 b1 = 00: b2 ∧ b3; 01: b4 ∨ b5; 10: b6 ∧ b7; 11: b8 ∨ b9 ∨ b10. The
      paper does not define the four parts of the last two problems; these are our choice.

    Parameters
    ----------
    name : str
        One of the above.
    random_state : int or generator, optional
        The same seed gives the same cases.
    n_cases : int, optional
        Number of cases, if not that of the paper.
    as_frame : bool or "auto"
        Whether `X` is a pandas frame or a numpy array; "auto": a frame if pandas is installed.

    Returns
    -------
    Dataset
        Tests are free and every wrong answer costs 1; `random_costs` draws a price list.

    Examples
    --------
    >>> data = make("xor-5", random_state=0, as_frame=False)
    >>> data.X.shape, data.X[0, :5].tolist(), str(data.y[0])
    ((200, 10), ['1', '1', '1', '0', '0'], '1')
    """
    if name not in CONCEPTS:
        raise ValueError(f"unknown problem {name!r}; valid: {', '.join(CONCEPTS)}")
    pandas, concept = pandas_for(as_frame), concepts.CONCEPTS[name]
    n_cases = concept.n_cases if n_cases is None else n_cases
    if not isinstance(n_cases, (int, np.integer)) or isinstance(n_cases, bool) or n_cases < 1:
        raise ValueError(f"n_cases must be an integer of at least 1, got {n_cases!r}")
    columns, y, nominal = concepts.draw(concept, int(n_cases), concepts.generator(random_state))
    X = _array(columns, nominal) if pandas is None else _frame(columns, nominal, pandas)
    description = f"{n_cases} synthetic cases (Esmeir & Markovitch 2008, Appendix A). {concept.description}"
    return Dataset(name, X, y, Costs(tests={}, errors=1.0), description, nominal, list(columns))


def data_folder() -> Path | None:
    """Return the folder given by the environment variable, None without one."""
    text = os.environ.get(FOLDER_VARIABLE, "")
    if not text:
        return None
    folder = Path(text)
    if not folder.is_dir():
        raise ValueError(f"the environment variable {FOLDER_VARIABLE} is {text!r}, which is not a folder")
    return folder


def _find(name: str, source: str) -> Path:
    """Return the file of a data set that is not bundled."""
    known, wanted = f"unknown data set {name!r}; bundled: {', '.join(BUNDLED)}", "others"
    if name != source:
        known, wanted = f"the data set {name!r} is made from the file {source}, which is not bundled", "it"
    files = [source + suffix for suffix in _SUFFIXES]
    folder = data_folder()
    if folder is None:
        needed = f"set the environment variable {FOLDER_VARIABLE} to a folder that contains {' or '.join(files)}"
        raise ValueError(f"{known}; to load {wanted}, {needed}")
    if Path(source).name == source:  # a name, not a path
        for path in (folder / file for file in files):
            if path.is_file():
                return path
    raise ValueError(f"{known}; the folder {folder} contains neither {' nor '.join(files)}")


def _open(path: Path) -> IO[str]:
    """Open a CSV file, compressed or not; a byte order mark is skipped."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row that is not blank, header first; all have the same length."""
    line, width = 0, 0
    try:
        with _open(path) as file:
            reader = csv.reader(file, strict=True)
            for row in reader:
                line = reader.line_num
                if not row:
                    continue
                width = width or len(row)
                if len(row) != width:
                    raise ValueError(f"{path}, line {line}: {len(row)} fields, but the header has {width}")
                yield line, row
    except (csv.Error, UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: cannot be read after line {line}: {error}") from error
    if not width:
        raise ValueError(f"{path}, line 1: the file is empty; it needs a header row")


def _ends_in_class(path: Path) -> bool:
    """Return whether the file is readable and its last column is called `class`."""
    try:
        _, header = next(_rows(path))
    except ValueError:
        return False
    return header[-1] == "class"


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the columns of a data set as strings, the class last."""
    rows = _rows(path)
    line, header = next(rows)
    if header[-1] != "class":
        raise ValueError(f'{path}, line {line}: the last column must be called "class", got {header[-1]!r}')
    if len(header) < 2:
        raise ValueError(f"{path}, line {line}: no column besides the class")
    for name in header:
        if not name or header.count(name) > 1:
            raise ValueError(f"{path}, line {line}: column names must be unique and not empty, got {name!r}")
    columns: list[list[str]] = [[] for _ in header]
    # In chunks: otherwise the largest tables would be in memory twice.
    while chunk := list(islice(rows, 10_000)):
        for line, row in chunk:
            if row[-1] in ("", "?"):
                raise ValueError(f"{path}, line {line}: the class is missing")
        for column, values in zip(columns, zip(*(row for _, row in chunk), strict=True), strict=True):
            column.extend(values)
    if not columns[0]:
        raise ValueError(f"{path}, line {line}: no cases after the header")
    return header, columns


def _columns(header: list[str], columns: list[list[str]], facts: _Facts) -> tuple[dict[str, Column], list[str]]:
    """Return the columns to keep, by name, and the names of the nominal ones."""
    tests = header[:-1]
    codes = {*facts.codes, *(tests[facts.code_span] if facts.code_span else ())}
    missing = {""} if facts.question_mark_is_value else {"", "?"}
    kept: dict[str, Column] = {}
    nominal: list[str] = []
    for name, values in zip(tests, columns, strict=True):
        if name in facts.drop:
            continue
        # Values repeat: each distinct one is converted once.
        distinct = set(values)
        numbers = None if name in codes else _numbers(distinct - missing)
        if numbers is None:
            nominal.append(name)
            known = {text: None if text in missing else text for text in distinct}
            kept[name] = [known[text] for text in values]
        else:
            numbers |= dict.fromkeys(missing, math.nan)
            kept[name] = np.fromiter((numbers[text] for text in values), float, len(values))
    return kept, nominal


def _numbers(values: set[str]) -> dict[str, float] | None:
    """Return the number of each string, or None if one is not a finite number."""
    try:
        return {text: _number(text) for text in values}
    except ValueError:
        return None


def _number(text: str) -> float:
    """Read a finite number; unlike `float`, refuse 1_5, nan and infinity."""
    value = float(text)
    if "_" in text or not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number")
    return value


def _frame(columns: Mapping[str, Column], nominal: list[str], pandas: Any) -> Any:
    """Return the columns as a pandas frame."""

    def category(values: Column) -> Any:
        return pandas.Categorical(values, categories=sorted({value for value in values if value is not None}))

    return pandas.DataFrame({name: category(v) if name in nominal else v for name, v in columns.items()})


def _array(columns: Mapping[str, Column], nominal: list[str]) -> npt.NDArray[Any]:
    """Return the columns as an array: floats, or objects if there is a nominal column."""
    if not nominal:
        return np.column_stack([np.asarray(values, dtype=float) for values in columns.values()])
    table = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        table[:, j] = values
    return table


def _section(name: str) -> str:
    """Return the section about a bundled table from the README beside it."""
    text = (_BUNDLE / "README.md").read_text(encoding="utf-8")
    _, _, rest = text.partition(f"\n## {name}\n")
    return rest.partition("\n## ")[0].strip()


def _describe(path: Path, y: npt.NDArray[np.str_], facts: _Facts, tests: list[str], nominal: list[str]) -> str:
    """Describe a data set loaded from the folder."""
    prices = "Turney (1995), Appendix A" if facts.prices else "none: free tests, every wrong answer costs 1"
    parts = [
        f"{len(y)} cases, {len(tests)} tests ({len(nominal)} nominal), {len(np.unique(y))} classes, from {path}.",
        f"Dropped columns: {', '.join(facts.drop)}." if facts.drop else "",
        f"Prices: {prices}.",
        facts.note,
    ]
    return " ".join(part for part in parts if part)


def _folder_costs(folder: Path, facts: _Facts, tests: list[str]) -> Costs:
    """Return the price list of a data set of the folder."""
    if facts.prices is None:
        return Costs(tests={}, errors=1.0)
    path = folder / _TURNEY_PRICES
    if not path.is_file():
        raise ValueError(f"{path}: the published price list of {facts.prices} is missing")
    prices: dict[str, float | Test] = {}
    groups: dict[str, float] = {}
    for line, row in _price_rows(path, facts.prices):
        test, group = row["test"], row["group"] or None
        if test not in tests:
            raise ValueError(f"{path}, line {line}: {test!r} is not a column of {facts.prices}")
        try:
            first, later = _number(row["first_cost"]), _number(row["later_cost"])
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
        # The paper gives the price of a test as the first of its group and as a later one: they differ by the common
        # price.
        common = round(first - later, 2)
        if common != (groups.setdefault(group, common) if group else 0.0):
            unlike = f"unlike other tests of group {group!r}" if group else "but the test has no group"
            raise ValueError(f"{path}, line {line}: first and later cost differ by {common}, {unlike}")
        prices[test] = Test(later, group=group, delayed=row["delayed"] == "yes")
    if not prices:
        raise ValueError(f"{path}: no price for {facts.prices}")
    prices |= {test: Test(0.0, requires=others) for test, others in facts.computed.items()}
    return Costs(tests=prices, groups=groups, errors=_TURNEY_ERROR)


def _price_rows(path: Path, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line number and the fields, by column, of the rows about one data set."""
    rows = _rows(path)
    line, header = next(rows)
    needed = ("file", "test", "group", "first_cost", "later_cost", "delayed")
    for column in needed:
        if column not in header:
            raise ValueError(f"{path}, line {line}: no column {column!r}; required: {', '.join(needed)}")
    for line, fields in rows:
        row = dict(zip(header, fields, strict=True))
        if row["file"] == name:
            yield line, row
