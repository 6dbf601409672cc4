"""The pages of the documentation: every block runs, links lead somewhere, and Sphinx builds them without a warning."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import pytest

import worthwhile as ww
from all_learners import LEARNERS

mpl.use("Agg")
ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

spec = importlib.util.spec_from_file_location("run_pages", DOCS / "run_pages.py")
run_pages = importlib.util.module_from_spec(spec)
sys.modules["run_pages"] = run_pages  # dataclasses look their module up
spec.loader.exec_module(run_pages)

EVERY_PAGE = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


@pytest.fixture
def _pages_can_change_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    mpl.pyplot.close("all")


@pytest.mark.usefixtures("_pages_can_change_the_folder")
@pytest.mark.parametrize("path", run_pages.pages(), ids=lambda path: path.name)
def test_blocks_run_and_show_what_comes_out(path):
    import matplotlib.pyplot  # noqa: F401 - to be closed again

    assert run_pages.run_page(path) == []


def test_the_pages_with_blocks_are_found():
    names = {path.relative_to(DOCS).as_posix() for path in run_pages.pages()}
    assert {"tutorial.md", "costs.md", "howto/price-list.md", "howto/pictures.md"} <= names


@pytest.mark.parametrize("path", EVERY_PAGE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_files(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


@pytest.mark.parametrize(
    "path", [ROOT / "CONTRIBUTING.md", *sorted((DOCS / "design").glob("*.md"))], ids=lambda path: path.name
)
def test_places_in_the_repository_exist(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for place in re.findall(r"`((?:src|core|tests|docs|benchmarks|\.ci)/[\w./-]*)`", text):
        assert (ROOT / place).exists(), f"{path.name} names {place}"


def test_sphinx_builds_without_a_warning(tmp_path):
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason="the extra 'docs' is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", DOCS, tmp_path / "html"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": run_pages.MODULES},
    )
    assert done.returncode == 0, done.stderr
    learners = (tmp_path / "html" / "api" / "learners.html").read_text(encoding="utf-8")
    for learner in LEARNERS:
        assert f'id="worthwhile.{learner.__name__}"' in learners
    commands = (tmp_path / "html" / "api" / "commands.html").read_text(encoding="utf-8")
    assert "Usage: worthwhile learn" in commands


def test_every_public_name_is_in_the_reference():
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "api").glob("*.md"))
    for name in ww.__all__:
        assert name == "__version__" or re.search(rf"worthwhile\.{name}\b", text), name


# -- the tool itself --------------------------------------------------------------------------------------------------

PAGE = """# A page

```{code-block} text
:caption: names.txt

one
two
```

```sh
cat names.txt
echo "took 1.3 s"
```

```text
one
…
took … s
```

```python
>>> from pathlib import Path
>>> Path("names.txt").read_text().split()
['one', 'two']

```

```python
number = 3
```

<!-- not run: it would never end -->
```sh
sleep 1000
```

<!-- typed: Ann | -->
```console
$ sh -c 'printf "name: "; read name; echo "hello $name"'
name: Ann
hello Ann
```
"""


def page_of(monkeypatch, folder, text):
    """A page in a folder of its own."""
    monkeypatch.setattr(run_pages, "DOCS", folder)
    monkeypatch.chdir(folder)
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_page_that_is_right(tmp_path, monkeypatch):
    assert run_pages.run_page(page_of(monkeypatch, tmp_path, PAGE)) == []


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ("took … s", "took … min", "line 15: shows\none\n…\ntook … min\nbut the output is\none\ntwo\ntook 1.3 s"),
        ("['one', 'two']", "['one']", "Expected:\n    ['one']\nGot:\n    ['one', 'two']"),
        ("cat names.txt", "cat names.csv", "ended with code 1: cat: names.csv: No such file"),
        ("hello Ann\n", "hello Bob\n", "hello Bob\nbut the output is\nname: Ann\nhello Ann"),
        ("# A page", "# A page\n\n![x](pictures/none.png)", "page.md: shows none.png, but does not make it"),
    ],
)  # fmt: skip
def test_a_page_that_is_wrong(tmp_path, monkeypatch, right, wrong, complaint):
    assert PAGE.count(right) == 1
    path = page_of(monkeypatch, tmp_path, PAGE.replace(right, wrong))
    assert complaint in "\n".join(run_pages.run_page(path))


def test_writing_puts_a_page_right(tmp_path, monkeypatch):
    wrong = PAGE.replace("took … s", "took ages").replace("hello Ann\n", "hello Bob\n")
    path = page_of(monkeypatch, tmp_path, wrong + "\n<!-- made with: -->\n")
    run_pages.run_page(path, write=True)
    written = path.read_text(encoding="utf-8")
    assert "one\ntwo\ntook … s\n" in written
    assert "hello Ann\n```" in written
    assert run_pages.versions() in written
    assert run_pages.run_page(path) == []


def test_pages_made_with_other_libraries_are_run_but_not_compared(tmp_path, monkeypatch):
    text = PAGE.replace("took … s", "took ages") + "\n<!-- made with: numpy 0.1 -->\n"
    assert run_pages.run_page(page_of(monkeypatch, tmp_path, text)) == []
    broken = text.replace("cat names.txt", "cat names.csv")
    assert "ended with code 1" in run_pages.run_page(page_of(monkeypatch, tmp_path, broken))[0]
