"""What commands share: printing, checks of outputs, models, clusters."""

import contextlib
import io
import json

import pytest

from command_line import fails, learn_desk, run, write
from small_experiments import experiment
from worthwhile import cli, experiments
from worthwhile.cli.common import Printer, terminal


def test_strings_that_look_like_markup_are_shown_as_they_are(capsys):
    Printer(quiet=False).table(["[/name]", "[bold]cost"], [["the [low] name", "[/x]"], [":heart:", "2"]])
    out = capsys.readouterr().out
    for text in ("[/name]", "[bold]cost", "the [low] name", "[/x]", ":heart:"):
        assert text in out


def test_work_goes_to_the_cluster_that_is_named(capsys, folder, tmp_path, monkeypatch):
    from worthwhile.parallel import dask_cluster

    named = []

    @contextlib.contextmanager
    def cluster(address):
        named.append(address)
        yield

    monkeypatch.setattr(dask_cluster, "cluster", cluster)
    known = [folder / "train.csv", "--target", "class", "-q", "--cluster", "tcp://here:1"]
    forest = ["--learner", "budget-forest", "--set", "max_trees=2", "-o", tmp_path / "m.json"]
    assert run(capsys, "learn", *known, *forest)[0] == 0
    assert run(capsys, "compare", *known, "--learners", "eg2,c45", "--folds", "2", "-o", tmp_path / "c")[0] == 0
    monkeypatch.setattr(experiments, "EXPERIMENTS", {"a": experiment("a", "x")})
    monkeypatch.setattr(experiments, "PAPERS", {})
    assert run(capsys, "reproduce", "a", "-q", "--cluster", "tcp://here:1", "--out", tmp_path / "r")[0] == 0
    assert named == ["tcp://here:1"] * 3


def change(name, **changes):
    """Write a model file with changes."""
    with open("model.json") as file:
        content = json.load(file)
    return write(name, json.dumps(content | changes))


@pytest.mark.usefixtures("good_files")
@pytest.mark.parametrize("command", ["evaluate", "predict", "show", "next"])
def test_models_that_are_none(capsys, command):
    rest = {"evaluate": ["good.csv"], "predict": ["good.csv", "-o", "a.csv"], "show": [], "next": []}[command]
    assert fails(capsys, command, change("m.json", version=99), *rest) == (
        "m.json: version 99 of the model format is unknown; this release reads versions 1 to 2"
    )
    assert fails(capsys, command, change("m.json", learner="GPT"), *rest).startswith("m.json: unknown learner")
    assert fails(capsys, command, write("m.json", "{"), *rest).startswith("m.json: ")
    assert fails(capsys, command, write("m.json", "[]"), *rest).startswith("m.json: ")
    assert fails(capsys, command, "good.csv", *rest).startswith("good.csv: ")
    assert fails(capsys, command, "nowhere.json", *rest) == "nowhere.json: no such file"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["learn", "-o", "cases.csv"], "--out cases.csv: is an input file; choose another name for the output"),
        (["learn", "-o", "./costs.toml"], "--out costs.toml: is an input file"),
        (["learn", "-o", "m.json", "--report", "m.json"], "--report m.json: is already used for another output"),
        (["predict", "model.json", "cases.csv", "-o", "cases.csv"], "--out cases.csv: is an input file"),
        (["predict", "model.json", "cases.csv", "-o", "model.json"], "--out model.json: is an input file"),
        (["evaluate", "model.json", "cases.csv", "-o", "cases.csv"], "--out cases.csv: is an input file"),
    ],
)
def test_nothing_is_written_over_what_is_read(desk, capsys, command, words):
    before = {path.name: path.read_bytes() for path in desk.iterdir()}
    code = learn_desk(*command[1:]) if command[0] == "learn" else cli.run(command)
    assert code == 2
    assert capsys.readouterr().err.startswith(f"worthwhile: {words}")
    assert {path.name: path.read_bytes() for path in desk.iterdir()} == before


@pytest.mark.parametrize("command", [["predict", "-o", "out.csv"], ["evaluate", "--target", "outcome"]])
def test_values_that_the_model_does_not_know_are_mentioned(desk, capsys, command):
    text = (desk / "cases.csv").read_text()
    (desk / "capital.csv").write_text(text.replace("manual", "Manual"))
    words = "Column 'job': 20 of 40 values are unknown, e.g. 'Manual' (did you mean 'manual'?); the model"
    for file, mentioned in (("cases.csv", False), ("capital.csv", True)):
        assert cli.run([command[0], "model.json", file, *command[1:]]) == 0
        assert (words in " ".join(capsys.readouterr().out.split())) == mentioned


def test_the_report_bears_the_title_of_the_price_list(desk):
    assert learn_desk("-o", "m.json", "--report", "report.html", "-q") == 0
    assert "<title>Credit desk</title>" in (desk / "report.html").read_text()


NASTY = "\x1b[2J\x9b\u202eage :smile: [red]"
SHOWN = "\\u001b[2J\\u009b\\u202eage :smile: [red]"


def test_names_do_not_control_the_terminal(capsys):
    say = Printer(quiet=False)
    say(NASTY, wrap=False)
    say.table([NASTY], [[NASTY]])
    say.listing([NASTY, "use"], [[NASTY, "yes"]], flexible=["use"])
    say.warn(NASTY)
    terminal(stderr=True).print(NASTY)
    out, err = capsys.readouterr()
    assert out.count(SHOWN) == 5
    assert err == f"worthwhile: {SHOWN}\n{SHOWN}\n"
    assert cli.run(["show", NASTY]) == 2
    assert SHOWN in capsys.readouterr().err


def test_a_model_with_control_characters_in_its_names(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes = [{"test": NASTY, "threshold": 1, "children": [1, 2]}, {"answer": "a"}, {"answer": NASTY}]
    columns = [{"name": NASTY, "kind": "numeric"}]
    tree = {"format": "worthwhile-tree", "version": 1, "classes": ["a", NASTY], "columns": columns, "nodes": nodes}
    write("tree.json", json.dumps(tree))
    for command in (["show"], ["show", "--format", "rules"], ["show", "--format", "json"], ["next"], ["next", "-q"]):
        monkeypatch.setattr("sys.stdin", io.StringIO("5\n\n"))
        assert cli.run([command[0], "tree.json", *command[1:]]) == 0
        out, err = capsys.readouterr()
        assert "age :smile: [red]" in out
        assert not set(out + err) & {"\x1b", "\x9b", "\u202e"}
        if "json" in command:
            assert json.loads(out)["classes"] == ["a", NASTY]
