"""`worthwhile demo`."""

import importlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import worthwhile as ww
from command_line import BAR, run, start
from worthwhile import cli, datasets
from worthwhile.learners.soft_labels import remember_ensembles

demo = importlib.import_module("worthwhile.cli.demo")  # the package has the command under this name


@pytest.fixture(scope="module")
def remembered_ensembles():
    """Fit an ensemble only once to the same patients: it takes most of the time of a short demo."""
    with remember_ensembles():
        yield


@pytest.fixture
def short_demo(monkeypatch, remembered_ensembles):
    """A short search, and no break-even prices: how many are found in their seconds depends on the machine."""
    monkeypatch.setattr(demo, "BREAK_EVEN_SECONDS", False)
    monkeypatch.setattr(demo, "TRIALS", 20)


@pytest.mark.usefixtures("short_demo")
def test_the_demo_shows_the_costs_and_writes_two_files(capsys, tmp_path):
    folder = tmp_path / "a" / "demo"
    code, out, err = run(capsys, "demo", "--out", folder)
    assert (code, err) == (0, "")
    assert sorted(p.name for p in folder.iterdir()) == ["report.html", "tree.png"]
    assert (folder / "tree.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert [p.name for p in tmp_path.iterdir()] == ["a"]
    for words in (
        "303 patients",
        "the tree (ICET)",
        "all tests, best plain tree",
        "no test, always",
        "101 held-out",
        "└─",
    ):
        assert words in out
    assert str(folder / "report.html") in out.replace("\n", "")
    assert "\x1b" not in out  # a log file has no colours
    assert max(len(line) for line in out.partition("The tree, with")[0].splitlines()) <= 80


@pytest.mark.usefixtures("short_demo")
def test_quiet_prints_nothing_and_seeds_are_kept(capsys, tmp_path):
    pages = []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        assert run(capsys, "demo", "--quiet", "--out", tmp_path / folder, "--seed", seed) == (0, "", "")
        pages.append((tmp_path / folder / "report.html").read_text())
    assert pages[0] == pages[1] != pages[2]


@pytest.mark.usefixtures("short_demo")
def test_a_demo_without_pandas(capsys, tmp_path, monkeypatch):
    plain = datasets.load("heart", as_frame=False)
    run(capsys, "demo", "-q", "--out", tmp_path / "a")
    monkeypatch.setattr(datasets, "load", lambda name: plain)
    assert run(capsys, "demo", "-q", "--out", tmp_path / "b")[0] == 0
    pages = [(tmp_path / folder / "report.html").read_text() for folder in "ab"]
    assert pages[0].replace('"named_columns": true', '"named_columns": false') == pages[1]


def test_the_tree_is_cheaper_than_all_tests_and_than_none():
    told = []
    heart = datasets.load("heart")
    learned = demo._learn(heart, seed=0, tell=told.append)
    assert told
    tree, nothing, everything, _ = (strategy for _, strategy in demo._rows(learned))
    assert tree.total_cost.mean < everything.total_cost.mean
    assert tree.total_cost.mean < nothing.total_cost.mean
    assert 0.99 * heart.costs.total_price() < everything.test_cost.mean <= heart.costs.total_price()
    assert nothing.test_cost.mean == 0


def test_folders_that_cannot_be_are_one_line_and_code_2(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    cases = {
        tmp_path / "file": "is a file, not a folder",
        tmp_path / "file" / "below": f"cannot create the folder: {tmp_path / 'file'} is a file",
        Path("/proc/none/demo"): "cannot create the folder",
    }
    for folder, words in cases.items():
        code, out, err = run(capsys, "demo", "--out", folder)
        assert (code, out) == (2, "")
        assert err.startswith(f"worthwhile: {folder}: {words}")
        assert err.count("\n") == 1
    (tmp_path / "taken" / "tree.png").mkdir(parents=True)
    code, _, err = run(capsys, "demo", "--out", tmp_path / "taken")
    assert (code, err) == (2, f"worthwhile: {tmp_path / 'taken' / 'tree.png'}: is a folder, not a file\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt, EOFError])
def test_ctrl_c_is_130(capsys, monkeypatch, tmp_path, error):
    def interrupted(*_args, **_keywords):
        raise error

    monkeypatch.setattr(demo, "_learn", interrupted)
    code, out, err = run(capsys, "demo", "--out", tmp_path / "demo")
    assert (code, out) == (130, "")
    assert err.strip().startswith("worthwhile: stopped")
    assert list(tmp_path.iterdir()) == []


def test_as_a_process_on_a_poor_terminal(tmp_path):
    environment = {"PYTHONIOENCODING": "ascii", "TERM": "dumb", "DISPLAY": "", "MPLBACKEND": "TkAgg"}
    with start("demo", "--out", tmp_path / "demo", **environment) as process:
        out, err = process.communicate(timeout=300)  # others may keep the machine busy
    assert (process.returncode, err) == (0, "")
    assert "the tree (ICET)" in out
    assert sorted(p.name for p in (tmp_path / "demo").iterdir()) == ["report.html", "tree.png"]


@pytest.mark.usefixtures("short_demo")
def test_the_search_draws_a_bar_on_a_terminal(capsys, tmp_path, monkeypatch):
    for name, value in BAR.items():
        monkeypatch.setenv(name, value)
    code, _, err = run(capsys, "demo", "--out", tmp_path / "demo")
    assert code == 0
    assert "of at most 20 trials, best" in err


def test_as_a_process_that_is_stopped(tmp_path):
    program = (
        "from worthwhile import cli\n"
        "import time\n"
        "def slow(*a):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "import importlib; demo = importlib.import_module('worthwhile.cli.demo')\n"
        "demo._learn = slow\ncli.main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "demo", "--out", str(tmp_path / "demo")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_ctrl_c_ends_the_demo(tmp_path, capsys, monkeypatch):
    def interrupted(heart, seed, tell):
        def stop(_):
            raise KeyboardInterrupt

        known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
        icet = ww.ICETClassifier(variant="paper", trials=200, population=10, callback=stop, random_state=0, **known)
        return demo._Learned(icet.fit(heart.X, heart.y), heart.X, heart.X, heart.y, heart.y)

    monkeypatch.setattr(demo, "_learn", interrupted)
    assert cli.run(["demo", "--out", str(tmp_path / "demo"), "-q"]) == 130
    assert capsys.readouterr().err == "worthwhile: stopped; nothing was written\n"
    assert not (tmp_path / "demo").exists()
