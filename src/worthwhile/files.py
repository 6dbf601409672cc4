"""Reading and writing files, with clear error messages; a failed write leaves the old file intact."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import reprlib
import secrets
import shutil
import stat
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

__all__ = [
    "guess_encoding",
    "make_folder",
    "new_file",
    "new_files",
    "open_stream",
    "read_text",
    "warn_of_formulas",
    "write_file",
    "write_text",
]

MAX_LINKS = 40  # from one link to the next, as Linux has it
NOT_CP1252 = b"\x81\x8d\x8f\x90\x9d"  # bytes that mean nothing in Windows' Western code page
_STREAM = re.compile(r"/dev/(?:std(in|out|err)|fd/(\d+))|/proc/self/fd/(\d+)")


def guess_encoding(blocks: Iterable[bytes]) -> str | None:
    """Return the encoding of a text: UTF-8 or UTF-16, otherwise cp1252, which Western versions of Windows use.

    None: it is none of these.

    Examples
    --------
    >>> guess_encoding(["Müller".encode()]), guess_encoding(["Müller".encode("cp1252")]), guess_encoding([bytes([129])])
    ('utf-8-sig', 'cp1252', None)
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_first = is_utf8 = is_cp1252 = True
    for block in blocks:
        if is_first and (found := _utf16(block)) is not None:
            return found
        is_first = False
        if block.isascii() and not decoder.getstate()[0]:
            continue
        is_cp1252 = is_cp1252 and not any(byte in block for byte in NOT_CP1252)
        try:
            if is_utf8:
                decoder.decode(block)
        except UnicodeDecodeError:
            is_utf8 = False
        if not is_utf8 and not is_cp1252:
            return None
    if is_utf8 and not decoder.getstate()[0]:
        return "utf-8-sig"  # with or without a byte order mark
    return "cp1252" if is_cp1252 else None


def _utf16(start: bytes) -> str | None:
    """Recognise UTF-16 by its byte order mark, or by the zeros that every second byte of a Latin text is."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    sample = start[:1000]
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[::2])):
        if len(zeros) > 1 and zeros.count(0) > 0.6 * len(zeros) > 2.5 * (sample.count(0) - zeros.count(0)):
            return encoding
    return None


def read_text(path: Path, guess: bool = False) -> str:
    """Return the content of a UTF-8 file; with `guess`, also of one that Windows wrote in another encoding."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    try:
        content = path.read_bytes()
        return content.decode((guess and guess_encoding([content])) or "utf-8-sig")  # spreadsheets write a mark
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: is not UTF-8 text (byte {error.start}); save the file as UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file; if that fails, an existing file stays as it was."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{path}: {text[error.start]!a} cannot be written as UTF-8") from None
    write_file(path, content)


def open_stream(path: Path) -> int | None:
    """Return the number of the open file that a path such as /dev/stdout stands for, or None.

    Examples
    --------
    >>> open_stream(Path("/dev/stdout")), open_stream(Path("/dev/fd/3")), open_stream(Path("model.json"))
    (1, 3, None)
    """
    for _ in range(MAX_LINKS):
        found = _STREAM.fullmatch(os.path.abspath(path))
        if found is not None:
            return ("in", "out", "err").index(found[1]) if found[1] else int(found[2] or found[3])
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


def write_file(path: Path, content: bytes) -> None:
    """Write a file by way of a temporary one beside it; if that fails, an existing file stays as it was.

    A file that is replaced keeps its mode. /dev/stdout is written to, not replaced: a file may be behind it.
    """
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a file")
    if (stream := open_stream(path)) is not None:
        _write_stream(path, stream, content)
        return
    with new_file(path) as temporary, open(temporary, "xb") as file:
        file.write(content)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a temporary file to write, which takes the place of a file at the end; after an error, the old one stays."""
    target = path.resolve()  # a link stays a link: its target is replaced
    if target.exists() and not target.is_file():
        raise ValueError(f"{path}: is not a regular file")  # such as a device, which must not be replaced
    temporary = _temporary(target.parent)
    with _naming(path):
        try:
            yield temporary
            _replace(target, temporary)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def new_files(folder: Path) -> Iterator[Path]:
    """Give a temporary folder to write files to, which move to a folder at the end; after an error, none does."""
    target = folder.resolve()
    # On the same disk as the folder, which may be another one than that of its parent.
    temporary = _temporary(next(place for place in (target, *target.parents) if place.exists()))
    with _naming(folder):
        try:
            temporary.mkdir()
            yield temporary
            make_folder(target)
            for file in sorted(temporary.iterdir()):
                _replace(target / file.name, file)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _temporary(folder: Path) -> Path:
    return folder / f".worthwhile-{secrets.token_hex(8)}.tmp"


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise type(error)(f"{path}: cannot be written: {error.strerror or error}") from None


def _replace(target: Path, temporary: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        _copy_mode(target, temporary)
    os.replace(temporary, target)


def _copy_mode(source: Path, target: Path) -> None:
    """Give a file the owner, if allowed, and the permissions of another."""
    found = source.stat()
    with contextlib.suppress(PermissionError):
        os.chown(target, found.st_uid, found.st_gid)
    os.chmod(target, stat.S_IMODE(found.st_mode))


def _write_stream(path: Path, stream: int, content: bytes) -> None:
    for text in (sys.stdout, sys.stderr):  # what was printed before comes first
        text.flush()
    try:
        with open(os.dup(stream), "wb") as file:
            file.write(content)
    except OSError as error:
        raise type(error)(f"{path}: cannot be written: {error.strerror or error}") from None


def warn_of_formulas(path: Path | None, text: str, delimiter: str = ",") -> None:
    """Warn if a cell of a CSV text would be a formula in a spreadsheet program: it starts with =, @, + or -.

    Cells are not changed, since other programs compare them with names of classes and tests. Numbers are no formulas.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_of_formulas(Path("a.csv"), "x,y\\n-5,-\\n=1+2,a\\n")
    >>> print(found[0].message)
    a.csv: the cell '=1+2' is a formula for spreadsheet programs; import the columns as text
    """
    end = f'"?(?:{re.escape(delimiter)}|$)'
    number = r"(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?"
    sign = rf"[+-](?!(?:{number}|inf|nan|[-+. ]*){end})"
    found = re.search(
        rf'(?:^|{re.escape(delimiter)})"?((?:[=@\r]|{sign})[^{re.escape(delimiter)}\n]*)', text, re.MULTILINE
    )
    if found is not None:
        cell = reprlib.repr(found[1].rstrip('"'))
        where = "" if path is None else f"{path}: "
        warnings.warn(
            f"{where}the cell {cell} is a formula for spreadsheet programs; import the columns as text", stacklevel=2
        )


def make_folder(path: Path) -> None:
    """Create a folder and its parents if missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"{path}: is a file, not a folder") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot create the folder: {error.strerror}") from None
