"""A wrong file is refused with a line that says what it looks like and what is expected."""

import gzip
import zipfile

import pytest

from worthwhile.file_kinds import TABLE, check_kind, kind_of


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PAR1\x15\x04", "a Parquet file"),
        (b"\x1f\x8b\x08\x00", "a gzip file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Office file such as .xls"),
        (b"\x89PNG\r\n", "a picture"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"PK\x03\x04broken", "a damaged ZIP archive"),
        (b"<?xml version='1.0'?>\n<a/>", "an XML file"),
        (b"\xef\xbb\xbf<HTML>", "an HTML page"),
        (b'[{"age": 63}]', "a list in JSON"),
        (b'{"age": [63]}', "a JSON file"),
        (b'{"format": "worthwhile-model", "version": 2}', "a saved model"),
        (b"errors = 500\n", "a price list"),
        (b"# prices\n\n[tests]\nage = 1.0\n", "a price list"),
        (b" \n\n", "an empty file"),
        (b"age,class\n63,sick\n", None),
        (b"<5,class\n1,sick\n", None),
    ],
)
def test_kinds_of_files(tmp_path, content, kind):
    path = tmp_path / "a.dat"
    path.write_bytes(content)
    assert kind_of(path) == kind
    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(content)
    if not content.startswith(b"errors") and b"[tests]" not in content:
        assert kind_of(tmp_path / "a.csv.gz") == kind


def test_zip_archives_are_told_apart(tmp_path):
    for name, kind in {
        "xl/workbook.xml": "an Excel file",
        "word/document.xml": "a Word document",
        "content.xml": "an OpenDocument file such as .ods",
        "a.csv": "a ZIP archive",
    }.items():
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
            packed.writestr(name, "x")
        assert kind_of(tmp_path / "a.zip") == kind
    with pytest.raises(ValueError, match=r"a\.zip: looks like a ZIP archive; a table .*; unpack it first$"):
        check_kind(tmp_path / "a.zip", TABLE)
    assert kind_of(tmp_path) is None
    assert kind_of(tmp_path / "nowhere.csv") is None
