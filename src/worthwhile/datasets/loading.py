"""Reading data sets with their prices; the package's docstring says what files look like."""

from __future__ import annotations

import csv
import gzip
import importlib
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
import numpy.typing as npt

from worthwhile.costs.costs import Costs, Test
from worthwhile.datasets import concepts
from worthwhile.datasets.preparation import TURNEY as TURNEY_PROBLEMS
from worthwhile.datasets.preparation import Column
from worthwhile.datasets.random_prices import random_costs

__all__ = ["CONCEPTS", "TURNEY", "Dataset", "load", "make", "names", "random_costs"]

BUNDLED = ("bupa", "heart", "pima")
CONCEPTS = tuple(concepts.CONCEPTS)
TURNEY = tuple(TURNEY_PROBLEMS)
FOLDER_VARIABLE = "WORTHWHILE_DATA"

_BUNDLE = Path(__file__).parent / "data"
_SUFFIXES = (".csv", ".csv.gz")
_TURNEY_PRICES = Path("costs") / "turney1995_test_costs.csv"
# Turney (1995), section 4, tried seven uniform error costs from 10 to 10,000 dollars; this is the one in the middle.
_TURNEY_ERROR = 500.0


@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases with their classes and the prices of their tests.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    X : pandas.DataFrame or numpy.ndarray
        One row per case, one column per test. Frame: nominal columns have the dtype category, numeric ones float.
        Array: floats if every column is numeric, otherwise objects (float for numeric values, str for nominal ones).
        Missing values are NaN, in the nominal columns of an array None.
    y : numpy.ndarray of str
        The class of each case.
    costs : Costs
        Prices of the tests and costs of the errors.
    description : str
        What the cases are, where they come from, what was changed.
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
    """What the CSV file of a data set does not say about itself."""

    codes: tuple[str, ...] = ()  # columns of numbers that are names of nominal values
    code_span: slice | None = None  # the same, by position in the file
    drop: tuple[str, ...] = ()  # columns that are no tests
    question_mark_is_value: bool = False
    prices: str | None = None  # its key in the list of Turney's prices
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
    "boston_housing": _Facts(note="The class is a number (a house price): made for regression."),
    "bupa_raw": _Facts(note="The class is the selector of a data split, no diagnosis: use bupa."),
    "covtype": _Facts(code_span=slice(10, 54)),
    "credit_default_taiwan": _Facts(codes=("SEX", "EDUCATION", "MARRIAGE")),
    "echocardiogram_raw": _Facts(note="survival and still_alive give the answer away: use echocardiogram."),
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
    "thyroid_ann_test": _THYROID,
    "thyroid_ann_train": _THYROID,
    "vowel": _Facts(drop=("Train_or_Test", "Speaker_Number")),
}


def load(name: str, *, as_frame: bool | Literal["auto"] = "auto") -> Dataset:
    """Load a data set with its price list.

    Parameters
    ----------
    name : str
        One of `names()`: a bundled data set, a problem of Turney (1995), or a file of the folder named by the
        environment variable ``WORTHWHILE_DATA``. The former two win over a file of the same name.
    as_frame : bool or "auto"
        Whether `X` is a pandas frame or a numpy array; "auto": a frame if pandas is installed.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such data set, or its file is not as the module's text says.
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
        raise TypeError(f"the name of a data set is a string, got {name!r}")
    pandas = _pandas(as_frame)
    preparation = TURNEY_PROBLEMS.get(name)
    source = preparation.source if preparation else name
    path = _BUNDLE / f"{source}.csv" if source in BUNDLED else _find(name, source)
    facts = _FACTS.get(source, _Facts())
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
    """List what `load` can load: the bundled sets, the problems of `TURNEY`, the files of ``WORTHWHILE_DATA``.

    Problems whose file is not in the folder are left out.

    Examples
    --------
    >>> names()[:3]
    ['bupa', 'heart', 'pima']
    """
    folder = _folder()
    # Any CSV may lie in the folder; those that end in a column `class` are data sets.
    files = ((path, suffix) for suffix in _SUFFIXES for path in folder.glob(f"*{suffix}")) if folder else ()
    found = {path.name.removesuffix(suffix) for path, suffix in files if _ends_in_class(path)} | set(BUNDLED)
    made = [name for name, preparation in TURNEY_PROBLEMS.items() if preparation.source in found]
    return [*BUNDLED, *made, *sorted(found.difference(BUNDLED, TURNEY))]


def make(
    name: str, random_state: Any = None, *, n_cases: int | None = None, as_frame: bool | Literal["auto"] = "auto"
) -> Dataset:
    """Draw the cases of a made-up problem that greedy learners find hard.

    The problems are those of Esmeir & Markovitch (2008), Appendix A and Table 5. Bits are nominal, every value is as
    probable as the other, and no class is ever wrong. What the class depends on:

    - ``multiplexer-20``, 615 cases (Table 5; the text of the paper says 500): four address bits, a0 the highest, point
      at one of the sixteen data bits d0 to d15;
    - ``xor-5``, 200 cases: the parity of b0 to b4; b5 to b9 tell nothing;
    - ``xor-3d``, 200 cases: the sign of x0 · x1 · x2, numbers from -1 to 1; x3 to x5 tell nothing;
    - ``multi-xor``, 200 cases of 11 bits: b0 b1 = 00: b2 ⊕ b3; 01: b4 ⊕ b5; 10: b6 ⊕ b7; 11: b8 ⊕ b9 ⊕ b10;
    - ``multi-and-or``, 200 cases of 11 bits: b0 b1 = 00: b2 ∧ b3; 01: b4 ∨ b5; 10: b6 ∧ b7; 11: b8 ∨ b9 ∨ b10. The
      paper does not name the four parts of the last two problems; these are ours.

    Parameters
    ----------
    name : str
        One of the above.
    random_state : int or generator, optional
        The same number gives the same cases.
    n_cases : int, optional
        Another number of cases.
    as_frame : bool or "auto"
        Whether `X` is a pandas frame or a numpy array; "auto": a frame if pandas is installed.

    Returns
    -------
    Dataset
        Tests are free and every wrong answer costs 1; `random_costs` makes a price list.

    Examples
    --------
    >>> data = make("xor-5", random_state=0, as_frame=False)
    >>> data.X.shape, data.X[0, :5].tolist(), str(data.y[0])
    ((200, 10), ['1', '1', '1', '0', '0'], '1')
    """
    if name not in CONCEPTS:
        raise ValueError(f"there is no made-up problem {name!r}; there are {', '.join(CONCEPTS)}")
    pandas, concept = _pandas(as_frame), concepts.CONCEPTS[name]
    n_cases = concept.n_cases if n_cases is None else n_cases
    if not isinstance(n_cases, (int, np.integer)) or isinstance(n_cases, bool) or n_cases < 1:
        raise ValueError(f"n_cases must be a whole number of at least 1, got {n_cases!r}")
    columns, y, nominal = concepts.draw(concept, int(n_cases), concepts.generator(random_state))
    X = _array(columns, nominal) if pandas is None else _frame(columns, nominal, pandas)
    description = f"{n_cases} made-up cases (Esmeir & Markovitch 2008, Appendix A). {concept.description}"
    return Dataset(name, X, y, Costs(tests={}, errors=1.0), description, nominal, list(columns))


def _pandas(as_frame: bool | Literal["auto"]) -> Any:
    """Return the module pandas if a frame is wanted and can be had, None for an array."""
    if as_frame not in (True, False, "auto"):
        raise ValueError(f'as_frame must be True, False or "auto", got {as_frame!r}')
    if as_frame is False:
        return None
    try:
        return importlib.import_module("pandas")  # here, not at the top: pandas is optional and slow to import
    except ImportError:
        if as_frame == "auto":
            return None
        raise ImportError("as_frame=True needs pandas, which is not installed; as_frame=False gives arrays") from None


def _folder() -> Path | None:
    """Return the folder that the environment names, None if it names none."""
    text = os.environ.get(FOLDER_VARIABLE, "")
    if not text:
        return None
    folder = Path(text)
    if not folder.is_dir():
        raise ValueError(f"the environment variable {FOLDER_VARIABLE} names {text!r}, which is not a folder")
    return folder


def _find(name: str, source: str) -> Path:
    """Return the file of a data set that is not bundled."""
    known, wanted = f"unknown data set {name!r}; bundled are {', '.join(BUNDLED)}", "others"
    if name != source:
        known, wanted = f"the data set {name!r} is made from the file {source}, which is not bundled", "it"
    files = " or ".join(source + suffix for suffix in _SUFFIXES)
    folder = _folder()
    if folder is None:
        raise ValueError(
            f"{known}; to load {wanted}, set the environment variable {FOLDER_VARIABLE} to a folder that holds {files}"
        )
    if Path(source).name == source:  # a name, not a path that leads elsewhere
        for suffix in _SUFFIXES:
            path = folder / (source + suffix)
            if path.is_file():
                return path
    raise ValueError(f"{known}; looked for {files} in the folder {folder}, found neither")


def _open(path: Path) -> IO[str]:
    """Open a CSV file, compressed or not, as text (a byte order mark is skipped)."""
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields of each row that is not blank; the header comes first, all are as long."""
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
        raise ValueError(f"{path}, line 1: the file is empty; a header row is needed")


def _ends_in_class(path: Path) -> bool:
    """Whether the first row of a readable file ends in `class`."""
    try:
        _, header = next(_rows(path))
    except ValueError:
        return False
    return header[-1] == "class"


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the header and the columns of a data set, all as text, the class last."""
    rows = _rows(path)
    line, header = next(rows)
    if header[-1] != "class":
        raise ValueError(f'{path}, line {line}: the last column must be called "class", got {header[-1]!r}')
    if len(header) < 2:
        raise ValueError(f"{path}, line {line}: there is no column but the class")
    for name in header:
        if not name or header.count(name) > 1:
            raise ValueError(f"{path}, line {line}: column names must be unique and not empty, got {name!r}")
    columns: list[list[str]] = [[] for _ in header]
    # In pieces: turning rows into columns at once would hold the largest tables twice.
    while piece := list(islice(rows, 10_000)):
        for line, row in piece:
            if row[-1] in ("", "?"):
                raise ValueError(f"{path}, line {line}: the class is missing")
        for column, values in zip(columns, zip(*(row for _, row in piece), strict=True), strict=True):
            column.extend(values)
    if not columns[0]:
        raise ValueError(f"{path}, line {line}: there is no case after the header")
    return header, columns


def _columns(header: list[str], columns: list[list[str]], facts: _Facts) -> tuple[dict[str, Column], list[str]]:
    """Return the columns to keep, by name, and which of them are nominal."""
    tests = header[:-1]
    codes = {*facts.codes, *(tests[facts.code_span] if facts.code_span else ())}
    missing = {""} if facts.question_mark_is_value else {"", "?"}
    kept: dict[str, Column] = {}
    nominal: list[str] = []
    for name, texts in zip(tests, columns, strict=True):
        if name in facts.drop:
            continue
        # Values repeat: each distinct text is read once.
        distinct = set(texts)
        numbers = None if name in codes else _numbers(distinct - missing)
        if numbers is None:
            nominal.append(name)
            words = {text: None if text in missing else text for text in distinct}
            kept[name] = [words[text] for text in texts]
        else:
            numbers |= dict.fromkeys(missing, math.nan)
            kept[name] = np.fromiter((numbers[text] for text in texts), float, len(texts))
    return kept, nominal


def _numbers(texts: set[str]) -> dict[str, float] | None:
    """Return what numbers the texts mean, or None if one is not a finite number."""
    try:
        return {text: _number(text) for text in texts}
    except ValueError:
        return None


def _number(text: str) -> float:
    """Read a finite number as people write it: Python would also take 1_5, nan and infinity."""
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
    """Return the columns as an array: of floats, or of objects if there is a nominal column."""
    if not nominal:
        return np.column_stack([np.asarray(values, dtype=float) for values in columns.values()])
    table = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for j, values in enumerate(columns.values()):
        table[:, j] = values
    return table


def _section(name: str) -> str:
    """Return what the text beside the bundled tables says about one of them."""
    text = (_BUNDLE / "README.md").read_text(encoding="utf-8")
    _, _, rest = text.partition(f"\n## {name}\n")
    return rest.partition("\n## ")[0].strip()


def _describe(path: Path, y: npt.NDArray[np.str_], facts: _Facts, tests: list[str], nominal: list[str]) -> str:
    """Say in words what was loaded from the folder."""
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
        # The paper gives the price as first test of the group and as a later one: the difference is the common price.
        common = round(first - later, 2)
        if common != (groups.setdefault(group, common) if group else 0.0):
            raise ValueError(
                f"{path}, line {line}: first and later cost differ by {common}, unlike others in {group!r}"
            )
        prices[test] = Test(later, group=group, delayed=row["delayed"] == "yes")
    if not prices:
        raise ValueError(f"{path}: no price for {facts.prices}")
    return Costs(tests=prices, groups=groups, errors=_TURNEY_ERROR)


def _price_rows(path: Path, name: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line number and the fields, by column, of the rows about one data set."""
    rows = _rows(path)
    line, header = next(rows)
    needed = ("file", "test", "group", "first_cost", "later_cost", "delayed")
    for column in needed:
        if column not in header:
            raise ValueError(f"{path}, line {line}: no column {column!r}; needed are {', '.join(needed)}")
    for line, fields in rows:
        row = dict(zip(header, fields, strict=True))
        if row["file"] == name:
            yield line, row
