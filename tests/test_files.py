"""Reading and writing files: what fails is named, and a failed write leaves the old file."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from worthwhile.files import (
    guess_encoding,
    make_folder,
    new_file,
    new_files,
    open_stream,
    read_text,
    warn_of_formulas,
    write_file,
    write_text,
)


def test_text_is_written_and_read_as_utf8(tmp_path):
    write_text(tmp_path / "a.txt", "naïve\n")
    assert (tmp_path / "a.txt").read_bytes() == "naïve\n".encode()
    assert read_text(tmp_path / "a.txt") == "naïve\n"
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfabc")  # a byte order mark
    assert read_text(tmp_path / "a.txt") == "abc"


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    with pytest.raises(FileNotFoundError, match=r"a\.txt: no such file"):
        read_text(path)
    with pytest.raises(ValueError, match="is not a file"):
        read_text(tmp_path)
    path.write_bytes(b"abc\xff")
    with pytest.raises(ValueError, match=r"a\.txt: is not UTF-8 text \(byte 3\); save the file as UTF-8"):
        read_text(path)

    def fail(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(ValueError, match=r"a\.txt: cannot be read: Permission denied"):
        read_text(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def fail(*_):
        raise OSError("disk is gone")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match=r"a\.txt: cannot be written: disk is gone"):
        write_text(path, "new")
    assert os.listdir(tmp_path) == ["a.txt"]
    assert path.read_text() == "old"


def test_a_link_stays_a_link(tmp_path):
    write_text(tmp_path / "real", "old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_only_regular_files_are_replaced(tmp_path):
    with pytest.raises(ValueError, match="is a folder, not a file"):
        write_file(tmp_path, b"")
    with pytest.raises(ValueError, match="/dev/null: is not a regular file"):
        write_file(Path("/dev/null"), b"")
    with pytest.raises(FileNotFoundError, match="cannot be written: No such file"):
        write_file(tmp_path / "none" / "a.txt", b"")
    assert os.listdir(tmp_path) == []


def test_folders_are_created_with_their_parents(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    write_text(tmp_path / "file", "")
    with pytest.raises(ValueError, match="is a file, not a folder"):
        make_folder(tmp_path / "file")
    with pytest.raises(ValueError, match="cannot create the folder: Not a directory"):
        make_folder(tmp_path / "file" / "below")


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    for mode in (0o600, 0o664):
        path.chmod(mode)
        write_text(path, "new")
        assert path.stat().st_mode & 0o777 == mode
    write_text(tmp_path / "b.txt", "new")
    assert (tmp_path / "b.txt").stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask():
    old = os.umask(0)
    os.umask(old)
    return old


def test_standard_output_is_written_to_and_not_replaced(tmp_path):
    program = (
        "from pathlib import Path\nfrom worthwhile.files import write_text\nprint('first')\n"
        "write_text(Path('/dev/stdout'), 'second\\n')\nwrite_text(Path('link'), 'third\\n')"
    )
    (tmp_path / "link").symlink_to("/dev/stdout")
    out = tmp_path / "out.txt"
    out.write_text("before\n")
    inode = out.stat().st_ino
    with open(out, "a") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True, cwd=tmp_path)
    assert out.read_text() == "before\nfirst\nsecond\nthird\n"
    assert out.stat().st_ino == inode
    assert open_stream(tmp_path / "nowhere") is None


def test_text_that_utf8_lacks_is_named_with_the_file(tmp_path):
    with pytest.raises(ValueError, match=r"a\.txt: '\\ud800' cannot be written as UTF-8"):
        write_text(tmp_path / "a.txt", "a\ud800")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("cell", ["=1", "@x", "+a", "-5+cmd|x", '"=1+2"', "--1+a"])
def test_formulas_are_warned_of(cell):
    for text in (f"{cell},b\n", f"a,{cell}\n"):
        with pytest.warns(UserWarning, match=r"a\.csv: the cell .* is a formula for spreadsheet programs"):
            warn_of_formulas(Path("a.csv"), text)


@pytest.mark.parametrize("cell", ["-5", "+.5", "-1.5e-3", "-", "--", "a=b", "a-b", "", "-inf", '"a, -5"'])
def test_numbers_and_plain_names_are_no_formulas(cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_formulas(Path("a.csv"), f"{cell},b\nb,{cell}\n")


@pytest.mark.parametrize("cell", ["-5,5", "+1.234,5", "-,5"])
def test_numbers_with_decimal_commas_are_no_formulas(cell):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_formulas(Path("a.csv"), f"{cell};b\nb;{cell}\n", ";")
    with pytest.warns(UserWarning, match="is a formula"):
        warn_of_formulas(Path("a.csv"), f"b;{cell}+cmd\n", ";")


def test_encodings_are_guessed_across_blocks():
    text = "Größe;Käse\n" * 9
    for encoding, found in (
        ("utf-8", "utf-8-sig"),
        ("utf-8-sig", "utf-8-sig"),
        ("cp1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ):
        content = text.encode(encoding)
        assert guess_encoding([content]) == found
        if not found.startswith("utf-16"):  # recognised by the first block
            assert guess_encoding(content[i : i + 1] for i in range(len(content))) == found
    assert guess_encoding([]) == "utf-8-sig"
    assert guess_encoding([b"a\xc3"]) == "cp1252"  # cut off within a character
    assert guess_encoding(["ü".encode("cp1252"), b"\x8d"]) is None
    assert guess_encoding(["Ã\x8d".encode()]) == "utf-8-sig"  # a byte that cp1252 lacks


def test_files_of_a_new_folder_are_all_there_or_none(tmp_path):
    out = tmp_path / "deep" / "out"

    def write_half(manager, *name):
        with manager as place:
            place.joinpath(*name).write_text("3")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        write_half(new_files(out), "a")
    assert list(tmp_path.iterdir()) == []
    for text in ("1", "2"):
        with new_files(out) as place:
            (place / "a").write_text(text)
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("a", "2")]
    with pytest.raises(ValueError, match="half"):
        write_half(new_file(out / "a"))
    assert [(path.name, path.read_text()) for path in out.iterdir()] == [("a", "2")]
    with pytest.raises(NotADirectoryError, match=r"deep/out/a/b: cannot be written"), new_files(out / "a" / "b"):
        pass
