"""Reading and writing files, with clear error messages; a failed write leaves the old file intact."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

__all__ = ["make_folder", "read_text", "write_file", "write_text"]


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
    write_file(path, text.encode("utf-8"))


def write_file(path: Path, content: bytes) -> None:
    """Write a file by way of a temporary one beside it; if that fails, an existing file stays as it was."""
    if path.is_dir():
        raise ValueError(f"{path}: is a folder, not a file")
    target = path.resolve()  # a link stays a link: its target is replaced
    if target.exists() and not target.is_file():
        raise ValueError(f"{path}: is not a regular file")  # such as a device, which must not be replaced
    temporary = target.with_name(f".worthwhile-{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, target)
    except OSError as error:
        raise type(error)(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Create a folder and its parents if missing."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"{path}: is a file, not a folder") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot create the folder: {error.strerror}") from None
