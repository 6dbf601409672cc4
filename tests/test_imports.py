"""The shape of the package: arrows run upward only, and importing it is light."""

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import worthwhile as ww

PACKAGE = Path(ww.__file__).parent
ROOT = Path(__file__).parent.parent

# Each module may import those above it, never those below.
ORDER = [
    "_core",
    "_files",
    "_errortable",
    "_pricelist",
    "_costfile",
    "costs",
    "_encode",
    "_csvfile",
    "_parquetfile",
    "_datafile",
    "_prepare",
    "_concepts",
    "_randomcosts",
    "datasets",
    "_hierarchy",
    "_ledger",
    "_money",
    "_weighting",
    "_parameters",
    "_parallel",
    "_cluster",
    "_treefile",
    "_phrases",
    "_nodemoney",
    "_walk",
    "_outlook",
    "_advice",
    "_explain",
    "_run",
    "_show",
    "_rules",
    "_notebook",
    "plot",
    "tree",
    "metrics",
    "spending",
    "displays",
    "_base",
    "greedy",
    "_genesis",
    "_biases",
    "_folds",
    "_teacher",
    "_lesson",
    "c45cs",
    "_trials",
    "_evolution",
    "_contracts",
    "_consult",
    "_forestadvice",
    "_forestfile",
    "_court",
    "_testsets",
    "_grove",
    "_partfile",
    "_parts",
    "budget_forest",
    "icet",
    "act",
    "_model",
    "_dialogue",
    "_baselines",
    "_estimates",
    "_comparisonplot",
    "_crosscompare",
    "evaluation",
    "sensitivity",
    "experiments",
    "report",
    "cli",
    "__main__",
]


def imports(path):
    """The modules of this package that a file imports when it runs; what only type checkers see does not count."""
    tree = ast.parse(path.read_text())
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            if node.module == "worthwhile":
                yield from (alias.name for alias in node.names)
            elif (node.module or "").startswith("worthwhile."):
                yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("worthwhile."))


MODULES = sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE)]) if m.name != "_core")


def test_every_module_has_its_place():
    assert sorted(ORDER) == sorted([*MODULES, "_core"])


def files(module):
    """The files of a module: one, or all of a package inside this one."""
    folder = PACKAGE / module
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{module}.py"]


@pytest.mark.parametrize("module", MODULES)
def test_arrows_run_upward_only(module):
    inside = {module} if (PACKAGE / module).is_dir() else set()  # files of a package may import one another
    for other in {name for path in files(module) for name in imports(path)} - {"__version__"} - inside:
        assert other in ORDER, f"{module} imports {other}"
        assert other != "cli" or module == "__main__", f"{module} imports the command line"
        assert ORDER.index(other) < ORDER.index(module), f"{module} imports {other}, which stands below it"


def python(program):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_is_light():
    heavy = ("polars", "matplotlib", "typer", "click", "rich")
    program = f"""
import sys, worthwhile
assert not [m for m in {("pandas", "sklearn", "numpy", *heavy)!r} if m in sys.modules]
worthwhile.EG2Classifier().fit([[0.0], [1.0]] * 4, [0, 1] * 4).predict([[0.0]])
worthwhile.load, worthwhile.metrics
assert not [m for m in {heavy!r} if m in sys.modules]  # scikit-learn looks for pandas, we do not
"""
    python(program)


def test_every_public_name_is_there():
    assert len(set(ww.__all__)) == len(ww.__all__)
    for name in ww.__all__:
        assert getattr(ww, name) is not None
        assert name in dir(ww)
    python("from worthwhile import *; Costs, Tree, EG2Classifier, load, metrics, plot, datasets")
    with pytest.raises(AttributeError, match="module 'worthwhile' has no attribute 'ID3Classifier'"):
        _ = ww.ID3Classifier


def test_type_checkers_see_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(ww.__all__) - {"__version__"}


@pytest.mark.parametrize("module", MODULES)
def test_what_modules_offer_exists(module):
    found = __import__(f"worthwhile.{module}", fromlist=["_"])
    for name in getattr(found, "__all__", ()):
        assert hasattr(found, name)
    assert found.__doc__


def test_the_version_is_that_of_the_project():
    assert ww.__version__ == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_types_of_the_core_name_what_the_core_has():
    from worthwhile import _core

    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    named = {node.name for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert named == {name for name in dir(_core) if not name.startswith("_")}


def test_files_and_functions_stay_short():
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        assert text.count("\n") <= 520, path.name
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                inside = ast.get_docstring(node) or ""
                length = node.end_lineno - node.lineno - inside.count("\n")
                assert length <= 62, f"{path.name}: {node.name} has {length} lines"
        assert not re.search(r"\bprint\(", re.sub(r">>>.*|\.\.\. .*", "", text)) or "cli" in path.parts, path.name
