"""Reading and writing files: what fails is named, and a failed write leaves the old file."""

import os
from pathlib import Path

import pytest

from worthwhile.files import guess_encoding, make_folder, read_text, write_file, write_text


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
