"""What a file looks like by its first bytes, so that a wrong one is refused with a message that says what it is."""

from __future__ import annotations

import codecs
import gzip
import re
import zipfile
import zlib
from pathlib import Path

__all__ = [
    "EMPTY",
    "EXCEL",
    "MODEL",
    "PARQUET",
    "PRICES",
    "PRICE_LIST",
    "TABLE",
    "check_kind",
    "check_model",
    "kind_of",
]

START = 4096  # bytes that are looked at

# What a command may expect.
TABLE = "a table of cases is expected here (CSV, Excel or Parquet)"
PRICE_LIST = "a price list is expected here (TOML, CSV or Excel)"
MODEL = "a model that worthwhile saved is expected here (JSON)"

EXCEL, PARQUET, GZIP = "an Excel file", "a Parquet file", "a gzip file"
HTML, JSON, JSON_LIST, EMPTY = "an HTML page", "a JSON file", "a list in JSON", "an empty file"
SAVED_MODEL, PRICES = "a saved model", "a price list"
_ADVICE = {
    HTML: "; if it was downloaded, download the file itself",
    "a ZIP archive": "; unpack it first",
    "a pointer of Git LFS": "; fetch the file itself with git lfs pull",
}
_MAGIC = {
    b"%PDF-": "a PDF document",
    b"PAR1": PARQUET,
    b"\x1f\x8b": GZIP,
    b"\xd0\xcf\x11\xe0": "an old Office file such as .xls",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"SQLite format 3\0": "an SQLite database",
    b"BZh": "a compressed file",
    b"\xfd7zXZ": "a compressed file",
    b"7z\xbc\xaf": "a compressed file",
    b"\x28\xb5\x2f\xfd": "a compressed file",
    b"ARROW1": "a Feather file",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x03": "a Python pickle",
    b"\x80\x04": "a Python pickle",
    b"\x80\x05": "a Python pickle",
    b"$FL2": "an SPSS file",
    b"<stata_dta>": "a Stata file",
    b"version https://git-lfs": "a pointer of Git LFS",
    b"{\\rtf": "an RTF document",
}
_ZIPPED = {
    "xl/workbook.xml": EXCEL,
    "word/document.xml": "a Word document",
    "content.xml": "an OpenDocument file such as .ods",
}
_PATTERNS = (
    (re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body|table|script)\b", re.I | re.S), HTML),
    (re.compile(rb"\s*<\?xml.*<html", re.I | re.S), HTML),
    (re.compile(rb"\s*<\?xml"), "an XML file"),
    (re.compile(rb'\s*\{.*"format"\s*:\s*"worthwhile', re.S), SAVED_MODEL),
    (re.compile(rb'\s*\{\s*["}]'), JSON),
    (re.compile(rb"\s*\[\s*[\[{\]]"), JSON_LIST),
)
_TOML = re.compile(rb"^\s*(\[(tests|groups|about|errors(\.[^\]\r\n]+)?)\]|(errors|waiting)\s*=)", re.M)
_TEXT_TABLES = (".csv", ".tsv", ".txt")


def kind_of(path: Path) -> str | None:
    """Return what a file looks like, in words; None: unknown, such as text. A file that cannot be read is unknown, too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page, table = Path(folder, "page.csv"), Path(folder, "table.csv")
    ...     _ = page.write_text("<!DOCTYPE html><html></html>"), table.write_text("age,class\\n63,sick\\n")
    ...     kind_of(page), kind_of(table)
    ('an HTML page', None)
    """
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            start = file.read(START)
        if start.startswith(b"\x1f\x8b") and path.suffix.lower() == ".gz":
            with gzip.open(path) as unpacked:
                start = unpacked.read(START)
        return _kind(path, start)
    except (OSError, EOFError, zlib.error):
        return None


def _kind(path: Path, start: bytes) -> str | None:
    text = start.removeprefix(b"\xef\xbb\xbf")  # a byte order mark
    if not text.strip():
        return EMPTY
    if start.startswith(b"PK\x03\x04"):
        return _zipped(path)
    magic = (found for mark, found in _MAGIC.items() if start.startswith(mark))
    patterns = (found for pattern, found in _PATTERNS if pattern.match(text))
    found = next(magic, None) or next(patterns, None)
    if found is None and path.suffix.lower() not in _TEXT_TABLES and _TOML.search(text):
        return PRICES
    return found


def _zipped(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as packed:
            names = set(packed.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return "a damaged ZIP archive"
    return next((found for name, found in _ZIPPED.items() if name in names), "a ZIP archive")


def check_kind(path: Path, expected: str, valid: tuple[str | None, ...] = (None,)) -> None:
    """Raise an error if a file looks like something else than what is expected.

    Parameters
    ----------
    path : Path
    expected : str
        What is expected, in words: `TABLE`, `PRICE_LIST` or `MODEL`.
    valid : tuple of str or None
        The kinds that the reader of the file takes.
    """
    found = kind_of(path)
    if found in valid:
        return
    if found == EMPTY:
        raise ValueError(f"{path}: the file is empty; {expected}")
    if found is not None:
        advice = "" if path.suffix.lower() in (".html", ".htm") else _ADVICE.get(found, "")
        raise ValueError(f"{path}: looks like {found}; {expected}{advice}")


def check_model(path: Path) -> None:
    """Raise an error if a file is no JSON object, as all models are."""
    check_kind(path, MODEL, (None, SAVED_MODEL, JSON))
    if path.is_file() and kind_of(path) is None and not _other_text(path):
        found = "a table" if path.suffix.lower() in _TEXT_TABLES else "text that is not JSON"
        raise ValueError(f"{path}: looks like {found}; {MODEL}")


def _other_text(path: Path) -> bool:
    """Return whether a file is not UTF-8, or starts like JSON: then its reader says what is wrong."""
    try:
        with path.open("rb") as file:
            text = codecs.getincrementaldecoder("utf-8-sig")().decode(file.read(START))
    except (UnicodeDecodeError, OSError):
        return True
    return text.lstrip().startswith(("{", "["))
