"""Frames of pandas."""

import sys

import pytest

from worthwhile.table.frames import pandas_for


def test_pandas_is_used_where_it_is_installed(monkeypatch):
    assert pandas_for("auto").__name__ == pandas_for(True).__name__ == "pandas"
    assert pandas_for(False) is None
    with pytest.raises(ValueError, match="as_frame must be True, False"):
        pandas_for("yes")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert pandas_for("auto") is None
    with pytest.raises(ImportError, match="needs pandas, which is not installed"):
        pandas_for(True)
