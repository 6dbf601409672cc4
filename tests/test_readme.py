"""The examples in the README work; pytest itself runs those in docstrings."""

import doctest
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    result = doctest.testfile(str(README), module_relative=False, encoding="utf-8")
    assert result.attempted > 0
    assert result.failed == 0
