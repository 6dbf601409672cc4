"""Costs in files: TOML, CSV and Excel (read and written) and Turney's four-file format (read); see docs/costs.md.

Readers turn a file into the arguments of `Costs` and record the place of each entry; `Costs` checks the values.
"""

from __future__ import annotations

import csv
import io
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worthwhile.costs.error_costs import EntryKey, label_key, listing, show, suggest
from worthwhile.costs.price_list import Test
from worthwhile.costs.surcharges import COMPARISON, Condition, Surcharge
from worthwhile.excel import cell_text, fits_cell, read_rows, write_rows
from worthwhile.file_kinds import EMPTY, EXCEL, PRICE_LIST, PRICES, check_kind
from worthwhile.files import read_text, warn_of_formulas, write_file

if TYPE_CHECKING:
    from worthwhile.costs.costs import Costs


@dataclass(frozen=True)
class Description:
    """The content of a file: arguments for `Costs`, and the place of each test, group and error for messages."""

    path: Path
    arguments: dict[str, Any]
    places: dict[EntryKey, str] = field(default_factory=dict)

    def place(self, entry: EntryKey) -> str:
        """Return file and line of an entry, or the file if the line is unknown."""
        while entry and entry not in self.places:
            entry = entry[:-1]
        return self.places.get(entry, str(self.path))


@dataclass(frozen=True)
class Format:
    """A file format: its reader, and its writer if it can be written."""

    read: Callable[[Path], Description]
    write: Callable[[Costs], str | bytes] | None = None


def read(path: str | os.PathLike[str]) -> Description:
    """Read the description of costs in a file; its suffix names the format."""
    place = Path(path)
    check_kind(place, PRICE_LIST, (None, EXCEL, PRICES, EMPTY))
    return _format_of(place).read(place)


def check_filled(found: Description) -> None:
    """Raise an error if a price list says nothing."""
    if "errors" not in found.arguments and not any(
        found.arguments.get(part) for part in ("tests", "groups", "waiting")
    ):
        raise ValueError(
            f"{found.path}: the price list is empty: it has neither prices of tests nor costs of errors; {_START}"
        )


def write(costs: Costs, path: str | os.PathLike[str]) -> None:
    """Write costs to a file; its suffix names the format."""
    place = Path(path)
    known = FORMATS.get(place.suffix.lower())
    writer = None if known is None else known.write
    if writer is None:
        why = f"unknown suffix {show(place.suffix)}" if known is None else "files in Turney's format can only be read"
        valid = listing(suffix for suffix, known in FORMATS.items() if known.write is not None)
        raise ValueError(f"{place}: {why}; valid suffixes for writing: {valid}")
    try:
        written = writer(costs)
        content = written.encode("utf-8") if isinstance(written, str) else written
    except UnicodeEncodeError as error:
        raise ValueError(f"{place}: {show(error.object[error.start])} in a name cannot be written as UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    if isinstance(written, str) and place.suffix.lower() == ".csv":
        warn_of_formulas(place, written)
    write_file(place, content)


def _format_of(path: Path) -> Format:
    known = FORMATS.get(path.suffix.lower())
    if known is None:
        raise ValueError(f"{path}: unknown suffix {show(path.suffix)}; valid: {listing(FORMATS)}")
    return known


# --- TOML -----------------------------------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Za-z0-9_-]+")  # what TOML takes as a name without quotes
_TOML_KEYS = ("errors", "waiting", "tests", "groups", "about", "currency")


def _read_toml(path: Path) -> Description:
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path}: invalid TOML: it is nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: invalid TOML: {error}{_toml_hint(text, str(error))}") from None
    except ValueError:  # of int()
        raise ValueError(f"{path}: invalid TOML: a number has thousands of digits") from None
    for key, value in content.items():
        if key not in _TOML_KEYS:
            raise ValueError(f"{path}: unknown key {show(key)}; {suggest(key, _TOML_KEYS)}")
        if key == "currency":
            if not isinstance(value, str):
                raise ValueError(f'{path}: currency must be a string such as "EUR", not {show(value)}')
        elif key not in ("errors", "waiting") and not isinstance(value, dict):
            raise ValueError(f"{path}: {key} must be a table [{key}], not {show(value)}")
        if key == "errors" and isinstance(value, list):
            raise ValueError(f"{path}: errors must be a number or tables [errors.truth], not a list")
        if key == "errors" and isinstance(value, dict):
            _check_error_tables(path, value)
    return Description(path, content)


def _check_error_tables(path: Path, errors: Mapping[str, Any]) -> None:
    for truth, row in errors.items():
        if not isinstance(row, dict):
            table = f"[errors.{_toml_key(truth)}]"
            raise ValueError(
                f"{path}: errors[{show(truth)}] must be a mapping: a table {table} with the cost of each wrong answer, "
                f"not {show(row)}; one number for all errors is errors = {show(row)}, above all tables"
            )


def _toml_hint(text: str, message: str) -> str:
    """Return advice about the line that TOML complains about: a price such as 5,5, a name with a space, or True."""
    place = re.search(r"at line (\d+)", message)
    lines = text.splitlines()
    if place is None or int(place[1]) > len(lines):
        return ""
    line = lines[int(place[1]) - 1]
    if (found := re.search(r"=\s*([-+]?\d+),(\d+)", line)) is not None:
        return f"; numbers need a decimal point: write {found[1]}.{found[2]}"
    if (found := re.search(r"=\s*(true|false|yes|no)\b", line, re.IGNORECASE)) is not None:
        return f"; write {'true' if found[1].lower() in ('true', 'yes') else 'false'}, without quotes or capitals"
    table = re.fullmatch(r"\s*\[(\w+)\.([^\]\"']+)\]\s*(#.*)?", line)
    name = re.match(r"\s*([^\"'#=\[][^=]*?)\s*=", line)
    if table is not None and not _BARE.fullmatch(table[2].strip()):
        return f"; names with spaces or signs need quotes: write [{table[1]}.{_toml_string(table[2].strip())}]"
    if name is not None and not _BARE.fullmatch(name[1]):
        return f"; names with spaces or signs need quotes: write {_toml_string(name[1])} = …"
    return ""


def _toml_string(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text) + '"'


def _toml_key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _toml_string(name)


def _toml_value(value: Any) -> str:
    """Return a string, a number, True or False, or a sequence or mapping of these as TOML."""
    if isinstance(value, str):
        return _toml_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(name)} = {_toml_value(own)}" for name, own in value.items()) + " }"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_toml_value, value))}]"
    return repr(value)


def _toml_test(test: Test) -> str:
    parts = {
        "group": test.group,
        "delayed": test.delayed,
        "requires": test.requires,
        "wait": test.wait,
        "surcharges": [_toml_surcharge(own) for own in test.surcharges],
    }
    given = {name: value for name, value in parts.items() if value}
    return _toml_value({"price": test.price, **given} if given else test.price)


def _toml_surcharge(surcharge: Surcharge) -> dict[str, Any]:
    parts = {
        "truth": None if surcharge.truth is None else label_key(surcharge.truth),  # as the labels of errors
        "result": surcharge.result,
        "where": surcharge.where,
        "after": surcharge.after,
        "after_any": surcharge.after_any,
    }
    return {"amount": surcharge.amount} | {name: own for name, own in parts.items() if own not in (None, {}, ())}


def _write_toml(costs: Costs) -> str:
    errors = costs._errors.with_string_labels()
    above = [f"errors = {errors!r}"] if isinstance(errors, float) else []
    above += [f"waiting = {_toml_value(costs.waiting)}"] if costs.waiting else []
    blocks = [above] if above else []  # in TOML a key must come before all tables
    tables: list[tuple[str, dict[str, str]]] = [
        ("about", {name: _toml_string(text) for name, text in costs.about.items()}),
        ("tests", {name: _toml_test(test) for name, test in costs.tests.items()}),
        ("groups", {name: repr(common) for name, common in costs.groups.items()}),
    ]
    blocks += [_toml_table(header, content) for header, content in tables if content]
    if not isinstance(errors, float):
        for truth, row in errors.items():
            cells = {answer: repr(cost) for answer, cost in row.items() if answer != truth or cost != 0}
            blocks.append(_toml_table(f"errors.{_toml_key(truth)}", cells))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _toml_table(header: str, content: Mapping[str, str]) -> list[str]:
    return [f"[{header}]", *(f"{_toml_key(name)} = {value}" for name, value in content.items())]


# --- CSV and Excel --------------------------------------------------------------------------------------------------

_CSV_COLUMNS = ("kind", "name", "price", "group", "delayed", "requires", "answer")
_CSV_MORE = ("wait", "truth", "result", "where", "after", "after_any")  # written only if a price list needs them
_CSV_ALL = (*_CSV_COLUMNS, *_CSV_MORE)
# Columns that each kind of row may fill, besides kind and name. The text of an `about` row is in column answer.
_CSV_KINDS = {
    "test": ("price", "group", "delayed", "requires", "wait"),
    "group": ("price",),
    "error": ("price", "answer"),
    "about": ("answer",),
    "surcharge": ("price", "truth", "result", "where", "after", "after_any"),
    "waiting": ("price",),
}
_CSV_HINT = (
    f"a price list in a spreadsheet has the columns {', '.join(_CSV_COLUMNS[:3])} and, where needed, "
    f"{', '.join(_CSV_ALL[3:])}; its kinds of rows are {', '.join(_CSV_KINDS)}, such as test,age,5.00"
)
_START = "worthwhile costs init DATA --target COLUMN writes one to start from"
_YES_NO = {"yes": True, "no": False, "true": True, "false": False, "": False}
_COMMA_PRICE = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+")
_GROUPED = re.compile(r"[-+]?\d{1,3}([.,]\d{3})+")  # 1.234 or 1,234: thousands, or decimals
_WHERE = re.compile(r"([^<>=]+)(<=|>=|<|>|=)(.+)", re.DOTALL)  # of one test: age < 1


@dataclass(frozen=True)
class _PriceRows:
    """The rows of a price list, with their places."""

    rows: list[tuple[str, dict[str, str]]]
    separators: str  # of the names in the columns `requires`, `after` and `after_any`
    commas: bool  # prices have decimal commas


def _read_csv(path: Path) -> Description:
    text = read_text(path, guess=True)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = ";" if first.count(";") > first.count(",") else ","
    rows = list(_checked_rows(path, "line", _csv_rows(path, text, delimiter)))
    prices = [row["price"] for _, row in rows]
    commas = any(_COMMA_PRICE.fullmatch(price) and not _GROUPED.fullmatch(price) for price in prices)
    commas = commas or (delimiter == ";" and any("," in price for price in prices))
    return _describe(path, _PriceRows(rows, ";," if delimiter == ";" else ";", commas))


def _read_excel(path: Path) -> Description:
    cells = ((number, [cell_text(value) for value in row]) for number, row in enumerate(read_rows(path), 1))
    rows = list(_checked_rows(path, "row", cells))
    return _describe(path, _PriceRows(rows, ";", any(_COMMA_PRICE.fullmatch(row["price"]) for _, row in rows)))


def _describe(path: Path, given: _PriceRows) -> Description:
    arguments: dict[str, Any] = {"tests": {}, "groups": {}, "about": {}}
    errors: dict[str, dict[str, float]] = {}
    waiting: list[tuple[float, float]] = []
    surcharges: list[tuple[str, dict[str, str]]] = []
    places: dict[EntryKey, str] = {}
    for where, row in given.rows:
        if row["kind"] == "surcharge":
            surcharges.append((where, row))
            continue
        key = (row["kind"], row["name"], row["answer"]) if row["kind"] == "error" else (row["kind"], row["name"])
        if key in places:
            raise ValueError(f"{where}: {' '.join([key[0], *map(show, key[1:])])} is already given at {places[key]}")
        places[key] = where
        places.setdefault(key[:2], where)  # the place of missing answers is the first row of their class
        places.setdefault(key[:1], where)
        if row["kind"] == "test":
            arguments["tests"][row["name"]] = _csv_test(row, where, given)
        elif row["kind"] == "group":
            arguments["groups"][row["name"]] = _csv_price(row, where, given.commas)
        elif row["kind"] == "about":
            arguments["about"][row["name"]] = row["answer"]
        elif row["kind"] == "waiting":
            time = _csv_number(row["name"], "time of waiting", where, given.commas)
            waiting.append((time, _csv_price(row, where, given.commas)))
        else:
            errors.setdefault(row["name"], {})[row["answer"]] = _csv_price(row, where, given.commas)
    for test in arguments["tests"].values():
        test["group"] = _csv_groups(test["group"], arguments["groups"])
    for where, row in surcharges:
        _add_surcharge(row, where, given, arguments["tests"], places)
    if errors:
        arguments["errors"] = _csv_errors(errors, places)
    if waiting:
        start = [] if any(time == 0 for time, _ in waiting) else [(0.0, 0.0)]
        arguments["waiting"] = [*start, *sorted(waiting)]
    return Description(path, arguments, places)


def _csv_rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line number and the cells of every row."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{path}, line {start}: invalid CSV: {error}") from None
        if cells is None:
            return
        yield start, cells
        start = reader.line_num + 1


def _checked_rows(path: Path, word: str, rows: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place and the cells of every row that is not blank; kind and name are checked."""
    columns: list[str] | None = None
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        while columns is None and not cells[-1].strip():  # spreadsheets fill all rows up
            cells.pop()
        where = f"{path}, {word} {number}"
        if columns is None:
            columns = _csv_header(cells, where)
        else:
            yield where, _csv_row(columns, cells, where)
    if columns is None:
        raise ValueError(f"{path}, {word} 1: the file is empty; its first {word} must be {','.join(_CSV_COLUMNS)}")


def _csv_header(cells: list[str], where: str) -> list[str]:
    columns, required = [cell.strip().lower() for cell in cells], _CSV_COLUMNS[:3]
    if len(columns) > 1 and set(columns).isdisjoint(_CSV_ALL):
        raise ValueError(f"{where}: looks like a table of cases; {PRICE_LIST}")
    for position, column in enumerate(columns):
        if column not in _CSV_ALL:
            raise ValueError(f"{where}: unknown column {show(column)}; {_CSV_HINT}")
        if column in columns[:position]:
            raise ValueError(f"{where}: column {show(column)} appears twice")
    for column in required:
        if column not in columns:
            raise ValueError(f"{where}: column {show(column)} is missing; {_CSV_HINT}")
    return columns


def is_price_header(names: Iterable[str]) -> bool:
    """Return whether column names are those of a price list in CSV or Excel."""
    return set(_CSV_COLUMNS[:3]) <= {name.strip().lower() for name in names} <= set(_CSV_ALL)


def _csv_row(columns: list[str], cells: list[str], where: str) -> dict[str, str]:
    if any(cell.strip() for cell in cells[len(columns) :]):
        raise ValueError(f"{where}: {len(cells)} cells, but the first line has {len(columns)} columns")
    raw = dict.fromkeys(_CSV_ALL, "") | dict(zip(columns, cells, strict=False))
    row = {column: cell.strip() for column, cell in raw.items()}
    kind = row["kind"] = row["kind"].lower()
    if kind not in _CSV_KINDS:
        raise ValueError(f"{where}: unknown kind {show(row['kind'])}; {suggest(kind, _CSV_KINDS)}")
    if not row["name"]:
        raise ValueError(f"{where}: a row of kind {kind} needs a name")
    for column in _CSV_ALL[2:]:
        if row[column] and column not in _CSV_KINDS[kind]:
            raise ValueError(f"{where}: a row of kind {kind} has no {column}; remove {show(row[column])}")
    if kind == "about":
        row["answer"] = raw["answer"]
    elif kind == "error" and not row["answer"]:
        raise ValueError(f"{where}: error {show(row['name'])} needs an answer")
    return row


def _csv_price(row: dict[str, str], where: str, commas: bool) -> float:
    return _csv_number(row["price"], f"price of {row['kind']} {show(row['name'])}", where, commas)


def _csv_number(text: str, what: str, where: str, commas: bool) -> float:
    if _GROUPED.fullmatch(text) and ("." in text if commas else "," in text):
        raise ValueError(f"{where}: {what}: {text} may mean thousands or decimals; write it without the mark") from None
    plain = text.replace(".", "").replace(",", ".") if commas and _COMMA_PRICE.fullmatch(text) else text
    try:
        return float(plain)
    except ValueError:
        raise ValueError(f"{where}: {what} must be a number such as 5.17, not {show(text)}") from None


def _csv_names(text: str, separators: str) -> list[str]:
    return [name.strip() for name in re.split(f"[{separators}]", text)] if text else []


def _csv_test(row: dict[str, str], where: str, given: _PriceRows) -> dict[str, Any]:
    delayed = row["delayed"].lower()
    if delayed not in _YES_NO:
        raise ValueError(f"{where}: delayed of test {show(row['name'])} must be yes or no, not {show(row['delayed'])}")
    wait = _csv_number(row["wait"], f"wait of test {show(row['name'])}", where, given.commas) if row["wait"] else 0.0
    return {
        "price": _csv_price(row, where, given.commas),
        "group": row["group"],
        "delayed": _YES_NO[delayed],
        "requires": _csv_names(row["requires"], given.separators),
        "wait": wait,
        "surcharges": [],
    }


def _csv_groups(text: str, groups: Mapping[str, float]) -> str | list[str] | None:
    """Return the group of a test, or several separated by ';', which may also be part of a group's name."""
    return text or None if text in groups or ";" not in text else _csv_names(text, ";")


def _add_surcharge(
    row: dict[str, str], where: str, given: _PriceRows, tests: dict[str, Any], places: dict[EntryKey, str]
) -> None:
    """Add a row of kind surcharge to its test."""
    name = row["name"]
    if name not in tests:
        raise ValueError(
            f"{where}: surcharge of {show(name)}, which has no row of kind test; {suggest(name, tests)}, "
            "or add the row, with price 0 if the test is free"
        )
    surcharge = {
        "amount": _csv_price(row, where, given.commas),
        "truth": row["truth"] or None,
        "result": _csv_comparison(row["result"], given.commas) or _csv_names(row["result"], "|") or None,
        "where": _csv_where(row, where, given.commas),
        "after": _csv_names(row["after"], given.separators),
        "after_any": _csv_names(row["after_any"], given.separators),
    }
    places["test", name, f"surcharge {len(tests[name]['surcharges'])}"] = where
    tests[name]["surcharges"].append(surcharge)


def _csv_where(row: dict[str, str], where: str, commas: bool) -> dict[str, str | list[str]]:
    """Return the conditions of a cell such as 'age < 1; sex = f | m'."""
    found: dict[str, str | list[str]] = {}
    for part in _csv_names(row["where"], ";"):
        match = _WHERE.fullmatch(part)
        equals = match is not None and match[2] == "="
        condition = match and (_csv_names(match[3], "|") if equals else _csv_comparison(match[2] + match[3], commas))
        if match is None or condition is None:
            raise ValueError(
                f"{where}: where of a surcharge of test {show(row['name'])} must be conditions such as "
                f"'age < 1; sex = f', not {show(part)}"
            )
        if (other := match[1].strip()) in found:
            raise ValueError(f"{where}: where of a surcharge of test {show(row['name'])} names {show(other)} twice")
        found[other] = condition
    return found


def _csv_comparison(text: str, commas: bool) -> str | None:
    """Return a comparison with a number; None if the text is none."""
    if commas and "," in text:
        text = text.replace(".", "").replace(",", ".")
    return text if COMPARISON.fullmatch(text) else None


def _csv_errors(
    errors: dict[str, dict[str, float]], places: dict[EntryKey, str]
) -> float | dict[str, dict[str, float]]:
    """Return the uniform cost, the row `*`,`*`, or the table."""
    starred = [(truth, answer) for truth, row in errors.items() for answer in row if "*" in (truth, answer)]
    if not starred:
        return errors
    if errors != {"*": {"*": errors.get("*", {}).get("*")}}:
        place = places[("error", *starred[0])]
        raise ValueError(
            f"{place}: '*' means all classes: use one error row with name '*' and answer '*', or no '*' at all"
        )
    return errors["*"]["*"]


def _csv_line(cells: Iterable[str]) -> str:
    quoted = ('"' + cell.replace('"', '""') + '"' if re.search(r'[,"\r\n]', cell) else cell for cell in cells)
    return ",".join(quoted) + "\n"


def _csv_name(name: str, forbidden: str = "") -> str:
    """Return the name, or raise an error if reading the CSV file would not return the same name."""
    if name != name.strip() or name == "*" or any(c in name for c in forbidden):
        marks = "".join(f" or {mark!r}" for mark in forbidden) or " or ';'"
        raise ValueError(
            f"CSV cannot contain the name {show(name)} (surrounding white space, '*'{marks}); write a .toml file"
        )
    return name


def _write_csv(costs: Costs) -> str:
    return "".join(_csv_line(line) for line in _price_rows(costs))


def _write_excel(costs: Costs) -> bytes:
    header, *rows = _price_rows(costs)
    for row in rows:
        for text in row:
            if not fits_cell(text):
                raise ValueError(f"an Excel cell cannot contain {show(text)}; write a .toml file")
    numeric = [column in ("price", "wait") for column in header]
    cells = ([float(text) if text and n else text for text, n in zip(row, numeric, strict=True)] for row in rows)
    return write_rows([header, *cells])


def _price_rows(costs: Costs) -> list[tuple[str, ...]]:
    """Return the lines of a price list, the header first: the columns of every list, then those that this one needs."""
    rows = [{"kind": "about", "name": _csv_name(name), "answer": text} for name, text in costs.about.items()]
    for name, test in costs.tests.items():
        rows.append(_test_row(name, test, costs.groups))
    rows += [{"kind": "group", "name": _csv_name(name), "price": repr(own)} for name, own in costs.groups.items()]
    rows += [_surcharge_row(name, own) for name, test in costs.tests.items() for own in test.surcharges]
    rows += [{"kind": "waiting", "name": repr(time), "price": repr(own)} for time, own in costs._waiting[1:]]
    errors = costs._errors.with_string_labels()
    nested = {"*": {"*": errors}} if isinstance(errors, float) else errors
    for truth, row in nested.items():
        for answer, cost in row.items():
            names = (truth, answer) if isinstance(errors, float) else (_csv_name(truth), _csv_name(answer))
            rows.append({"kind": "error", "name": names[0], "price": repr(cost), "answer": names[1]})
    columns = (*_CSV_COLUMNS, *(column for column in _CSV_MORE if any(row.get(column) for row in rows)))
    return [columns, *(tuple(row.get(column, "") for column in columns) for row in rows)]


def _test_row(name: str, test: Test, groups: Mapping[str, float]) -> dict[str, str]:
    several = len(test.groups) > 1
    group = ";".join(_csv_name(own, ";" if several else "") for own in test.groups)
    if several and group in groups:
        raise ValueError(f"CSV cannot contain a group {show(group)} besides the groups it names; write a .toml file")
    return {
        "kind": "test",
        "name": _csv_name(name),
        "price": repr(test.price),
        "group": group,
        "delayed": "yes" if test.delayed else "no",
        "requires": ";".join(_csv_name(other, ";") for other in test.requires),
        "wait": repr(test.wait) if test.wait else "",
    }


def _surcharge_row(name: str, surcharge: Surcharge) -> dict[str, str]:
    where = [
        f"{_csv_name(other, ';<>=')} {_condition_text(given, equals='= ')}" for other, given in surcharge.where.items()
    ]
    result = "" if surcharge.result is None else _condition_text(surcharge.result)
    if COMPARISON.fullmatch(result) and not Condition.parse(surcharge.result, "result").is_comparison:
        raise ValueError(f"CSV cannot contain the value {show(result)}, a comparison there; write a .toml file")
    return {
        "kind": "surcharge",
        "name": _csv_name(name),
        "price": repr(surcharge.amount),
        "truth": "" if surcharge.truth is None else _csv_name(label_key(surcharge.truth)),
        "result": result,
        "where": "; ".join(where),
        "after": ";".join(_csv_name(other, ";") for other in surcharge.after),
        "after_any": ";".join(_csv_name(other, ";") for other in surcharge.after_any),
    }


def _condition_text(given: Any, equals: str = "") -> str:
    """Return a condition as a cell has it: '< 1', or values separated by '|'."""
    condition = Condition.parse(given, "condition")
    if condition.is_comparison:
        return f"{condition.operator} {condition.values[0]!r}"
    return equals + " | ".join(_csv_name(label_key(value), ";|") for value in condition.values)


# --- Turney's four files --------------------------------------------------------------------------------------------

_TURNEY_SUFFIXES = (".cost", ".delay", ".expense", ".group")
_WHEN = {"immediate": False, "delayed": True}
_Entries = dict[str, tuple[str, str]]  # test -> (value, place)


def _read_turney(path: Path) -> Description:
    """Read the four files side by side: `.expense` has full and discount price, `.cost` the full price again."""
    parts = {suffix: path.with_suffix(suffix) for suffix in _TURNEY_SUFFIXES}
    missing = [place.name for place in parts.values() if not place.exists()]
    if missing:
        raise FileNotFoundError(
            f"{path}: the four files {listing(_TURNEY_SUFFIXES)} belong together; missing: {listing(missing)}"
        )
    expense = _turney_entries(parts[".expense"])
    full = _same_tests(_turney_entries(parts[".cost"]), expense)
    delay = _same_tests(_turney_entries(parts[".delay"]), expense)
    declared, member = _turney_groups(parts[".group"], expense)
    groups: dict[str, tuple[Decimal, str]] = {}
    tests: dict[str, dict[str, Any]] = {}
    for name, (text, place) in expense.items():
        first, later = _turney_prices(name, text, place)
        _check_full_price(name, first, *full[name])
        group = member.get(name)
        _check_common(name, group, first - later, groups, place)
        tests[name] = {"price": float(later), "group": group, "delayed": _turney_delay(name, *delay[name])}
    unused = [group for group in declared if group not in groups]
    if unused:
        raise ValueError(f"{declared[unused[0]]}: group {show(unused[0])} has no test")
    places: dict[EntryKey, str] = {("test", name): place for name, (_, place) in expense.items()}
    arguments = {"tests": tests, "groups": {group: float(groups[group][0]) for group in declared}}
    return Description(path, arguments, places)


def _turney_lines(path: Path) -> list[tuple[str, str]]:
    """Return (place, text) of the lines that are not blank, without a final dot."""
    numbered = ((f"{path}, line {n}", line.strip()) for n, line in enumerate(read_text(path).splitlines(), 1))
    return [(place, line.removesuffix(".").rstrip()) for place, line in numbered if line]


def _turney_entries(path: Path, skip: int = 0) -> _Entries:
    """Read lines `test: value`."""
    entries: _Entries = {}
    for place, line in _turney_lines(path)[skip:]:
        name, colon, value = line.rpartition(":")
        name = name.strip()
        if not colon or not name:
            raise ValueError(f"{place}: expected 'test: value', found {show(line)}")
        if name in entries:
            raise ValueError(f"{place}: test {show(name)} is already given at {entries[name][1]}")
        entries[name] = (value.strip(), place)
    return entries


def _same_tests(entries: _Entries, expense: _Entries) -> _Entries:
    """Check that a file has exactly the tests of the `.expense` file."""
    for name, (_, place) in entries.items():
        if name not in expense:
            raise ValueError(f"{place}: unknown test {show(name)}; {suggest(name, expense)}")
    for name, (_, place) in expense.items():
        if name not in entries:
            raise ValueError(f"{place}: test {show(name)} is missing in the other files, which have {listing(entries)}")
    return entries


def _turney_groups(path: Path, expense: _Entries) -> tuple[dict[str, str], dict[str, str]]:
    """Read the declared groups (name -> place) and each test's group; the first line is `A, B, C.`"""
    lines = _turney_lines(path)
    if not lines:
        return {}, {}
    place, header = lines[0]
    names = [name.strip() for name in header.split(",")]
    if ":" in header or not all(names):
        raise ValueError(f"{place}: expected the list of groups, such as 'A, B.', found {show(header)}")
    member: dict[str, str] = {}
    known = set(names)
    for test, (group, where) in _turney_entries(path, skip=1).items():
        if test not in expense:
            raise ValueError(f"{where}: unknown test {show(test)}; {suggest(test, expense)}")
        if group not in known:
            raise ValueError(f"{where}: test {show(test)} is in unknown group {show(group)}; {suggest(group, names)}")
        member[test] = group
    return dict.fromkeys(names, place), member


def _turney_decimal(name: str, text: str, place: str) -> Decimal:
    """Read a price exactly, so that 7.27 - 5.17 is 2.10 and common prices can be compared."""
    try:
        price = Decimal(text.strip())
    except InvalidOperation:
        raise ValueError(f"{place}: price of test {show(name)} must be a number, not {show(text.strip())}") from None
    if not price.is_finite() or price < 0:
        raise ValueError(f"{place}: price of test {show(name)} must be finite and at least 0, not {price}")
    return price


def _turney_prices(name: str, text: str, place: str) -> tuple[Decimal, Decimal]:
    cells = text.split(",")
    if len(cells) != 2:
        raise ValueError(f"{place}: test {show(name)} needs 'full price, discount price', found {show(text)}")
    first, later = (_turney_decimal(name, cell, place) for cell in cells)
    if later > first:
        raise ValueError(f"{place}: discount price {later} of test {show(name)} is above its full price {first}")
    return first, later


def _check_full_price(name: str, first: Decimal, text: str, place: str) -> None:
    alone = _turney_decimal(name, text, place)
    if alone != first:
        raise ValueError(f"{place}: test {show(name)} costs {alone} here, but {first} in the .expense file")


def _turney_delay(name: str, when: str, place: str) -> bool:
    if when not in _WHEN:
        raise ValueError(f"{place}: test {show(name)} must be immediate or delayed, not {show(when)}")
    return _WHEN[when]


def _check_common(
    name: str, group: str | None, common: Decimal, groups: dict[str, tuple[Decimal, str]], place: str
) -> None:
    """Set or compare the common price of a group: full price minus discount price of each member."""
    if group is None:
        if common:
            raise ValueError(
                f"{place}: test {show(name)} has a discount of {common} but is not in a group of the .group file"
            )
        return
    known, first = groups.setdefault(group, (common, name))
    if known != common:
        raise ValueError(
            f"{place}: group {show(group)} has no single common price: full minus discount price is {known} for test "
            f"{show(first)} but {common} for test {show(name)}"
        )


FORMATS: dict[str, Format] = {
    ".toml": Format(_read_toml, _write_toml),
    ".csv": Format(_read_csv, _write_csv),
    ".xlsx": Format(_read_excel, _write_excel),
    **dict.fromkeys(_TURNEY_SUFFIXES, Format(_read_turney)),
}
