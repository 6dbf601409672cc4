"""The shape of the package: imports between rooms point one way, and importing it is light."""

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import worthwhile as ww
from all_learners import LEARNERS
from golden_cases import LEARNERS as GOLDEN

PACKAGE = Path(ww.__file__).parent
ROOT = Path(__file__).parent.parent

# What each room may import; every room may import itself, and the leaves.
LEAVES = {"_core", "excel", "file_kinds", "files", "wording", "parallel", "__version__"}
MAY_IMPORT = {
    "costs": set(),
    "table": {"costs"},
    "datasets": {"costs", "table"},
    "tree": {"costs", "table"},
    "learners": {"costs", "table", "tree"},
    "evaluation": {"costs", "table", "tree", "learners"},
    "export": {"costs", "table", "tree"},
    "metrics": {"evaluation"},
    "displays": {"costs", "table", "tree", "learners", "evaluation"},
    "report": {"costs", "table", "tree", "learners", "evaluation"},
    "experiments": {"costs", "table", "tree", "learners", "evaluation", "displays", "datasets"},
    "service": {"costs", "table", "tree", "learners", "evaluation"},
    "cli": {
        "costs",
        "table",
        "tree",
        "learners",
        "evaluation",
        "displays",
        "report",
        "experiments",
        "datasets",
        "export",
        "service",
    },
    "__main__": {"cli"},
    "parallel": set(),
    "excel": set(),
    "file_kinds": set(),
    "files": set(),
    "wording": set(),
}


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


ROOMS = sorted(m.name for m in pkgutil.iter_modules([str(PACKAGE)]) if m.name != "_core")
MODULES = sorted(m.name for m in pkgutil.walk_packages([str(PACKAGE)], "worthwhile.") if not m.name.endswith("_core"))


def test_every_room_is_known():
    assert sorted(MAY_IMPORT) == ROOMS


@pytest.mark.parametrize("room", ROOMS)
def test_imports_between_rooms_point_one_way(room):
    folder = PACKAGE / room
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]:
        wrong = set(imports(path)) - LEAVES - MAY_IMPORT[room] - {room}
        assert not wrong, f"{path.relative_to(PACKAGE)} imports {', '.join(sorted(wrong))}"


def test_no_two_classes_have_the_same_name():
    found = Counter(
        node.name.lstrip("_")
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )
    assert not [name for name, n in found.items() if n > 1]


def has_logic(path):
    """Whether a module defines functions or classes."""
    return any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) for node in ast.parse(path.read_text()).body)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_with_logic_has_its_test_file(path):
    name = path.relative_to(PACKAGE)
    if path.name.startswith("__") or not has_logic(path):
        return
    assert (ROOT / "tests" / name.parent / f"test_{path.name}").exists()


def python(program):
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_is_light():
    heavy = ("polars", "matplotlib", "typer", "click", "rich", "fastapi", "sqlalchemy")
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
    python("from worthwhile import *; Costs, Tree, EG2Classifier, load, metrics, datasets")
    with pytest.raises(AttributeError, match="module 'worthwhile' has no attribute 'ID3Classifier'"):
        _ = ww.ID3Classifier


def test_type_checkers_see_the_same_names():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom) and node.module != "typing"]
    seen = {alias.asname for node in imports for alias in node.names}
    assert seen == set(ww.__all__) - {"__version__"}


@pytest.mark.parametrize("module", MODULES)
def test_what_modules_offer_exists(module):
    found = importlib.import_module(module)
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


def test_only_the_command_line_prints():
    for path in PACKAGE.rglob("*.py"):
        text = re.sub(r">>>.*|\.\.\. .*", "", path.read_text())
        assert not re.search(r"(?<!\.)\bprint\(", text) or "cli" in path.parts, path.name


def test_every_parameter_has_a_rule():
    from worthwhile.learners.parameters import RULES

    fields = {name for learner in LEARNERS for name in learner._parameter_names()}
    assert fields - {"random_state"} == set(RULES) & fields  # scikit-learn checks random_state


def test_the_regression_digests_cover_every_learner():
    assert {learner for learner, _, _ in GOLDEN.values()} == set(LEARNERS)
