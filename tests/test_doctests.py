"""The examples in docstrings and in the README work."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import matplotlib
import pytest

import worthwhile

matplotlib.use("Agg")
MODULES = [
    "worthwhile",
    *(f"worthwhile.{m.name}" for m in pkgutil.iter_modules(worthwhile.__path__) if m.name != "_core"),
]
ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md"]  # those in docs: test_docs.py


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_every_module_with_public_functions_has_examples():
    examples = {name: doctest.DocTestFinder().find(importlib.import_module(name)) for name in MODULES}
    assert sum(bool(test.examples) for tests in examples.values() for test in tests) > 30


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # examples may write files
    result = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert result.failed == 0
