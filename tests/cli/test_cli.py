"""The command line: exit codes, files, one line on stderr."""

import doctest
import importlib
import io
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import worthwhile
from small_experiments import experiment
from worthwhile import cli, datasets, experiments


def run(capsys, *arguments):
    code = cli.run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def short_demo(monkeypatch):
    """Looking for break-even prices takes most of the time, and how many are found in it depends on the machine."""
    monkeypatch.setattr(cli._demo, "BREAK_EVEN_SECONDS", False)


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
    learned = cli._demo._learn(heart, seed=0, tell=told.append)
    assert told
    tree, nothing, everything, _ = (way for _, way in cli._demo._rows(learned))
    assert tree.total_cost.mean < everything.total_cost.mean
    assert tree.total_cost.mean < nothing.total_cost.mean
    assert 0.99 * heart.costs.total_price() < everything.test_cost.mean <= heart.costs.total_price()
    assert nothing.test_cost.mean == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--seed", "x"], "invalid value for '--seed'"),
        (["demo", "--colour"], "No such option"),
        (["demo", "--out"], "requires an argument"),
        (["reproduce"], "Missing argument"),
        (["reproduce", "turney-table5", "--jobs", "0"], "--jobs"),
        (["reproduce", "turney-table6"], "there is no experiment 'turney-table6'; there are turney, turney-table5, "),
        (["reproduce", "turney-table5", "--data", "nowhere"], "nowhere: is not a folder; --data names the folder"),
        (["dream"], "No such command"),
        (["--colour"], "No such option"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("worthwhile: ")
    assert err.count("\n") == 1
    assert words.lower().replace(" ", "") in err.lower().replace(" ", "")
    assert list(tmp_path.iterdir()) == []


def test_folders_that_cannot_be_are_one_line_and_code_2(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    cases = {
        tmp_path / "file": "is a file, not a folder",
        tmp_path / "file" / "below": "cannot create the folder: Not a directory",
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

    monkeypatch.setattr(cli._demo, "_learn", interrupted)
    code, out, err = run(capsys, "demo", "--out", tmp_path / "demo")
    assert (code, out) == (130, "")
    assert err.strip() == "worthwhile: stopped"
    assert list(tmp_path.iterdir()) == []


def test_help_and_version(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "demo" in out
    code, out, _ = run(capsys, "demo", "--help")
    assert code == 0
    assert "Example" in out
    assert "worthwhile demo --out my-demo --seed 3" in " ".join(out.split())
    for option in ("--seed", "--quiet", "--out"):
        assert option in out
    assert run(capsys, "--version") == (0, f"worthwhile {worthwhile.__version__}\n", "")
    code, out, _ = run(capsys)
    assert code == 2
    assert "Usage" in out


COMMANDS = ["demo", "learn", "evaluate", "predict", "next", "show", "compare", "reproduce", "costs init", "costs check"]


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(cli.__path__)])
def test_examples_in_docstrings(name):
    assert doctest.testmod(importlib.import_module(f"worthwhile.cli.{name}")).failed == 0


def test_the_list_of_commands_is_complete():
    top = {command.name or command.callback.__name__ for command in cli.app.registered_commands}
    costs = {
        f"costs {command.name or command.callback.__name__}" for command in cli._costs.costs_app.registered_commands
    }
    assert top | costs == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_seed_and_quiet(capsys, command):
    code, out, err = run(capsys, *command.split(), "--help")
    assert (code, err) == (0, "")
    assert f"Example: worthwhile {command} " in " ".join(out.split())
    assert "--seed" in out
    assert "--quiet" in out


def children_seconds():
    """The time that processes started here have worked: others may keep the machine busy."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_is_quick_and_needs_no_learner():
    program = (
        "import sys\n"
        "from worthwhile.cli import run\n"
        "assert run(['--help']) == 0 and run(['learn', '--help']) == 0\n"
        "assert not [m for m in ('sklearn', 'scipy', 'matplotlib', 'joblib', 'pandas') if m in sys.modules]"
    )
    before = children_seconds()
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert children_seconds() - before < 1.0


@pytest.fixture
def small(monkeypatch):
    tables = {"a": experiment("a", "x", "y"), "stops": experiment("stops", "x", "stopped")}
    monkeypatch.setattr(experiments, "EXPERIMENTS", tables)
    monkeypatch.setattr(experiments, "PAPERS", {"paper": ["a"]})
    monkeypatch.delenv("WORTHWHILE_DATA", raising=False)


@pytest.mark.usefixtures("small")
def test_reproduce_prints_the_table_and_writes_files(capsys, tmp_path):
    code, out, err = run(capsys, "reproduce", "a", "--out", tmp_path / "out", "--jobs", 1)
    assert (code, err) == (0, "")
    assert "About a" in out
    assert "† outside the published interval" in out
    assert str(tmp_path / "out" / "a.md") in out.replace("\n", "")
    files = sorted(p.name for p in (tmp_path / "out").iterdir())
    assert files == ["a-lines.png", "a.csv", "a.md", "cells-small.csv"]
    assert "`worthwhile reproduce a`" in (tmp_path / "out" / "a.md").read_text()
    options = ["--quiet", "--quick", "--seed", 3, "--out", tmp_path / "quiet", "--jobs", 1]
    assert run(capsys, "reproduce", "paper", *options) == (0, "", "")
    assert "`worthwhile reproduce paper --quick --seed 3`" in (tmp_path / "quiet" / "paper.md").read_text()


@pytest.mark.usefixtures("small")
def test_reproduce_that_is_stopped_says_how_to_go_on(capsys, tmp_path):
    code, out, err = run(capsys, "reproduce", "stops", "--out", tmp_path, "--jobs", 1)
    assert (code, out) == (130, "")
    assert err.startswith("worthwhile: stopped; 3 of 8 cells were finished and are kept: the same command goes on")
    assert err.count("\n") == 1
    assert len((tmp_path / "cells-small.csv").read_text().splitlines()) == 4


def test_reproduce_says_which_data_are_missing(capsys, tmp_path, monkeypatch):
    for folder, words in ((None, "set the environment variable WORTHWHILE_DATA"), (tmp_path, "contains neither")):
        monkeypatch.delenv("WORTHWHILE_DATA", raising=False)
        data = [] if folder is None else ["--data", folder]
        code, out, err = run(capsys, "reproduce", "turney-table12", "--quick", "--out", tmp_path / "out", *data)
        assert (code, out) == (2, "")
        assert err.startswith("worthwhile: the data set 'turney-")
        assert words in err
        assert err.endswith("the option --data names the folder, too\n") == (folder is None)
        assert not (tmp_path / "out").exists()  # nothing half-written
        assert err.count("\n") == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_the_progress_bar_is_for_terminals_only(capsys, monkeypatch, terminal):
    from worthwhile.experiments import Progress

    monkeypatch.setenv("TTY_COMPATIBLE" if terminal else "NO_COLOR", "1")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    with cli._reproduce._progress_bar(quiet=False) as (tell, last):
        for done in range(3):
            tell(Progress("a-table", done, 2, float(done), 2.0))
    assert [now.done for now in last] == [2]
    out, err = capsys.readouterr()
    assert out == ""
    assert ("2/2 cells" in err and "a-table" in err and "0:00:00 left" in err) if terminal else err == ""


def test_reproduce_in_processes_that_are_stopped(tmp_path):
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from small_experiments import experiment\n"
        "from worthwhile import cli, experiments\n"
        "experiments.EXPERIMENTS['a'] = experiment('a', 'sleepy')\n"
        "cli.main()"
    )
    arguments = [sys.executable, "-c", program, "reproduce", "a", "--out", str(tmp_path), "--jobs", "2"]
    cells = tmp_path / "cells-small.csv"
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        patience = time.monotonic() + 60
        while time.monotonic() < patience and not (cells.exists() and cells.read_text().count("\n") == 4):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C does: all processes of the command get it
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; 3 of 4 cells were finished and are kept" in err
    assert "Traceback" not in err


def test_the_entry_point_exits_with_the_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["worthwhile", "--version"])
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"worthwhile {worthwhile.__version__}\n"
    assert sys.stderr.errors == "replace"


def start(*arguments, **keywords):
    program = "from worthwhile.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **keywords,
    )


def test_as_a_process_on_a_poor_terminal(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "TERM": "dumb", "DISPLAY": "", "MPLBACKEND": "TkAgg"}
    before = children_seconds()
    with start("demo", "--out", tmp_path / "demo", env=environment) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert children_seconds() - before < 15
    assert b"the tree (ICET)" in out
    assert sorted(p.name for p in (tmp_path / "demo").iterdir()) == ["report.html", "tree.png"]


def test_the_search_draws_a_bar_on_a_terminal(tmp_path):
    with start("demo", "--out", tmp_path / "demo", env=os.environ | {"FORCE_COLOR": "1", "COLUMNS": "120"}) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"of at most 1000 trials, best" in err


def test_as_a_process_that_is_stopped(tmp_path):
    program = (
        "from worthwhile import cli\n"
        "import time\n"
        "def slow(*a):\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "cli._demo._learn = slow\ncli.main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, "demo", "--out", str(tmp_path / "demo")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err


def test_a_reader_that_goes_away(tmp_path):
    with start("demo", "--out", tmp_path / "demo") as process:
        process.stdout.close()
        err = process.stderr.read()
        process.wait(timeout=60)
    assert b"Traceback" not in err


def test_the_module_is_the_command():
    run = subprocess.run([sys.executable, "-m", "worthwhile", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"worthwhile {worthwhile.__version__}\n"
