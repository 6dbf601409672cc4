"""Files for the tests of commands: the heart data with a model, and a small table with good files."""

import pytest

from command_line import COSTS, DESK, HEAD, ROWS, learn_desk, write_table
from worthwhile import cli, datasets
from worthwhile.costs.error_costs import is_missing


@pytest.fixture(scope="session")
def heart():
    """The heart data as arrays."""
    return datasets.load("heart", as_frame=False)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, heart):
    """heart.csv, its prices, a third of it as new.csv, and a model from the rest."""
    folder = tmp_path_factory.mktemp("heart")
    rows = [
        ["" if is_missing(v) else v for v in row] + [label]
        for row, label in zip(heart.X.tolist(), heart.y, strict=True)
    ]
    names = [*heart.feature_names, "class"]
    write_table(folder / "heart.csv", names, rows)
    write_table(folder / "train.csv", names, rows[:200])
    write_table(folder / "new.csv.gz", names, rows[200:])
    heart.costs.write(folder / "heart.toml")
    arguments = ["--target", "class", "--costs", folder / "heart.toml", "--learner", "dtmc", "--quiet"]
    assert cli.run([str(a) for a in ["learn", folder / "train.csv", *arguments, "-o", folder / "model.json"]]) == 0
    return folder


@pytest.fixture
def good_files(tmp_path, monkeypatch):
    """A folder with a good table, price list and model; a test breaks what it is about."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(HEAD + "".join(ROWS))
    (tmp_path / "costs.toml").write_text(COSTS)
    assert cli.run(["learn", "good.csv", "--target", "class", "--costs", "costs.toml", "--learner", "dtmc", "-q"]) == 0
    return tmp_path


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A table, a price list with a title, and a model, in the current folder."""
    monkeypatch.chdir(tmp_path)
    lines = ["job,age,outcome", *(",".join(map(str, row)) for row in DESK)]
    (tmp_path / "cases.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "costs.toml").write_text('errors = 50\n[about]\ntitle = "Credit desk"\n[tests]\njob = 1.0\nage = 1.0\n')
    assert learn_desk("-o", "model.json", "-q") == 0
    return tmp_path
