"""`worthwhile show`."""

import io
import json
import re

import pytest

import worthwhile as ww
from command_line import COSTS, fails, write
from command_line import run_joined as run
from report_trees import capped, surcharged
from worthwhile import cli
from worthwhile.tree.text import expectation


def test_show_as_text_rules_graph_and_json(capsys, folder):
    tree = ww.load(folder / "model.json").tree_
    shown = {}
    for form in ("text", "rules", "dot", "json"):
        assert cli.run(["show", str(folder / "model.json"), "--format", form]) == 0
        shown[form] = capsys.readouterr().out.rstrip("\n")
    text, _, note = shown["text"].partition("\n\n")
    assert text == f"Amounts in Canadian dollars.\n{tree.to_text()}"
    assert " ".join(note.split()) == expectation(tree)
    assert note.startswith(f"A new case is expected to cost {tree.expected_cost.mean:.2f} (")
    assert note.rstrip().endswith("at the first node they may differ.")
    assert shown["dot"] == tree.to_dot().rstrip("\n")
    assert ww.Tree.from_json(shown["json"]).to_json() == tree.to_json()
    assert shown["rules"] == "\n".join(["Amounts in Canadian dollars.", *tree.rules()])


@pytest.mark.parametrize(("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_show_draws(capsys, folder, tmp_path, suffix, begin):
    picture = tmp_path / f"tree.{suffix}"
    assert run(capsys, "show", folder / "model.json", "-q", "--plot", picture) == (0, "", "")
    assert picture.read_bytes().startswith(begin)


def test_show_one_tree_of_a_forest(capsys, folder, tmp_path):
    model = tmp_path / "forest.json"
    options = ["--learner", "budget-forest", "--set", "max_trees=3", "-q", "-o", model]
    run(capsys, "learn", folder / "train.csv", "--target", "class", *options)
    _, out, _ = run(capsys, "show", model)
    assert "tree 1" in out
    assert "tree 3" in out
    assert out.startswith("A forest of 3 trees, which vote. Per validation case tests cost 0.00 and errors ")
    assert "expected cost" not in out  # the trees vote: none has a cost of its own
    assert cli.run(["show", str(model), "--format", "json"]) == 0
    trees = json.loads(capsys.readouterr().out)
    assert [ww.Tree.from_json(json.dumps(tree)).to_text() for tree in trees] == [
        tree.to_text() for tree in ww.load(model).trees_
    ]
    assert cli.run(["show", str(model), "--tree", "2"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == ww.load(model).trees_[1].to_text(expected_costs=False)
    code, _, err = run(capsys, "show", model, "--tree", 4)
    assert (code, err) == (2, f"worthwhile: {model}: there is no tree 4; the model has 3\n")
    code, out, err = run(capsys, "show", model, "--plot", tmp_path / "all.png")
    assert (code, out) == (2, "")  # refused before anything is shown
    assert "choose it with --tree" in err


@pytest.mark.usefixtures("good_files")
def test_an_unknown_picture_format(capsys):
    assert fails(capsys, "show", "model.json", "--plot", "a.bmp") == (
        "a.bmp: unknown picture format; use .png, .svg, .pdf"
    )


def test_show_names_the_cap(capsys, tmp_path):
    model = tmp_path / "tree.json"
    for content, said in ((capped(), True), (surcharged(), False)):
        model.write_text(json.dumps(content), encoding="utf-8")
        out = run(capsys, "show", model)[1]
        assert ("No case pays more than 80.00 for its tests." in out) == said
        assert "wait 24" in out


@pytest.mark.usefixtures("good_files")
def test_amounts_have_their_currency(capsys, monkeypatch):
    write("euro.toml", 'currency = "EUR"\n' + COSTS)
    known = ["good.csv", "--target", "class", "--costs", "euro.toml"]
    out = run(capsys, "learn", *known, "--learner", "dtmc", "-o", "euro.json", "--test-share", "0.3")[1]
    assert re.search(r"A new case is expected to cost [\d.]+ EUR \(", out)
    assert "Cost per case in EUR on 12 held-out cases" in out
    assert "Amounts in EUR." in run(capsys, "show", "euro.json")[1]
    assert "EUR" not in run(capsys, "show", "euro.json", "--format", "dot")[1]
    assert "Amounts in EUR." in run(capsys, "compare", *known, "--learners", "dtmc,c45", "-o", "found")[1]
    assert " EUR per case: a.csv" in run(capsys, "predict", "euro.json", "good.csv", "-o", "a.csv")[1]
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    assert re.search(r"Next: age for 1\.00 EUR \(0\.00 EUR spent so far\)", run(capsys, "next", "euro.json")[1])
