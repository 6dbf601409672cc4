"""Reading and writing files, with clear error messages; a failed write leaves the old file intact."""

from __future__ import annotations

import contextlib
import os
import re
import reprlib
import secrets
import stat
import sys
import warnings
from pathlib import Path

__all__ = ["make_folder", "open_stream", "read_text", "warn_of_formulas", "write_file", "write_text"]

MAX_LINKS = 40  # from one link to the next, as Linux has it
_STREAM = re.compile(r"/dev/(?:std(in|out|err)|fd/(\d+))|/proc/self/fd/(\d+)")


def read_text(path: Path) -> str:
    """Return the content of a UTF-8 file."""
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file")
    if not path.is_file():
        raise ValueError(f"{path}: is not a file")
    try:
        return path.read_bytes().decode("utf-8-sig")  # spreadsheets write a byte order mark
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
    target = path.resolve()  # a link stays a link: its target is replaced
    if target.exists() and not target.is_file():
        raise ValueError(f"{path}: is not a regular file")  # such as a device, which must not be replaced
    temporary = target.with_name(f".worthwhile-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        with contextlib.suppress(FileNotFoundError):
            _copy_mode(target, temporary)
        os.replace(temporary, target)
    except OSError as error:
        raise type(error)(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


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
    number = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
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
