"""`worthwhile reproduce`."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_type_hints

import pytest

from command_line import run
from small_experiments import experiment
from worthwhile import experiments
from worthwhile.cli.reproduce import _progress_bar, reproduce
from worthwhile.experiments import total_cost, unseen
from worthwhile.learners.progress import Progress


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
    assert err.startswith("worthwhile: stopped; 3 of 8 cells are finished and kept: run the same command to continue")
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
        assert err.endswith("or name the folder with --data\n") == (folder is None)
        assert not (tmp_path / "out").exists()  # nothing half-written
        assert err.count("\n") == 1


@pytest.mark.parametrize("terminal", [False, True])
def test_the_progress_bar_is_for_terminals_only(capsys, monkeypatch, terminal):
    monkeypatch.setenv("TTY_COMPATIBLE" if terminal else "NO_COLOR", "1")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    with _progress_bar(quiet=False) as (tell, last):
        for done in range(3):
            tell(Progress(float(done), done, 2), "a-table", done / 2)
    assert [now.done for now in last] == [2]
    out, err = capsys.readouterr()
    assert out == ""
    assert ("2/2 cells" in err and "a-table" in err and "0:00:00 left" in err) if terminal else err == ""


def children(pid):
    """Return the processes that a process has started, also indirectly."""
    own = [int(each) for path in Path(f"/proc/{pid}/task").glob("*/children") for each in path.read_text().split()]
    return own + [each for child in own for each in children(child)]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_reproduce_in_processes_that_are_stopped(tmp_path, number):
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
        patience = time.monotonic() + 300
        while time.monotonic() < patience and not (cells.exists() and cells.read_text().count("\n") == 4):
            time.sleep(0.05)
        workers = children(process.pid)
        assert len(workers) >= 2
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as Ctrl-C does: all processes of the command get it
        else:
            process.send_signal(number)
        _, err = process.communicate(timeout=300)
    while time.monotonic() < patience and any(map(alive, workers)):
        time.sleep(0.05)
    assert not any(map(alive, workers))
    assert process.returncode == 130
    assert "stopped; 3 of 4 cells are finished and kept" in err
    assert "Traceback" not in err


def test_reproduce_unseen_says_what_it_found(capsys, tmp_path, monkeypatch):
    learner = unseen.OwnLearner("AutoClassifier", "DTMCClassifier", 0.1)
    monkeypatch.setattr(unseen, "LEARNERS", {unseen.DEFAULT: learner})
    monkeypatch.setattr(total_cost, "RIVALS", {"no test": total_cost.RIVALS["no test"]})
    tables = tmp_path / "my tables"
    tables.mkdir()
    (tables / "a.csv").write_text("x,class\n" + "".join(f"{i},{'yes' if i > 30 else 'no'}\n" for i in range(60)))
    (tables / "b.csv").write_text("x,class\n1,yes\n")
    options = ["--quick", "--jobs", 1, "--out", tmp_path / "out"]
    code, out, err = run(capsys, "reproduce", "unseen", "--data", tables, *options)
    assert (code, err) == (0, "")
    assert out.startswith("a.csv: 60 cases, 1 test, 2 classes; target 'class' (by its name); random prices.")
    assert "b.csv: skipped: " in out
    assert out.index("b.csv: skipped: ") < out.index("AutoClassifier")
    page = (tmp_path / "out" / "unseen.md").read_text()
    assert f"`worthwhile reproduce unseen --data '{tables}' --quick`" in page
    code, out, err = run(capsys, "reproduce", "unseen", "--data", tmp_path, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "has no table that can be used" in err


def test_the_help_names_all_experiments():
    text = get_type_hints(reproduce, include_extras=True)["name"].__metadata__[0].help
    told = set[str]()
    for part in text.split(";"):
        family = part.split("-", 1)[0].strip()
        for first, kind, start, end in re.findall(r"(?:-((?:([a-z]+)(\d+))|\w+)(?: to -[a-z]+(\d+))?)", part):
            numbers = range(int(start or 0), int(end or start or 0) + 1)
            told |= {f"{family}-{kind}{number}" for number in numbers} if kind else {f"{family}-{first}"}
    known = {each.name for family in ("turney", "esmeir", "ting", "nan") for each in experiments.find(family)}
    assert known <= told
