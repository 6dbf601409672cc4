"""The command line on tables of users: from a file and a price list to a model, its costs, answers and pictures."""

import contextlib
import csv
import gzip
import json
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import typer

import worthwhile as ww
from all_learners import LEARNERS
from small_experiments import experiment
from worthwhile import cli, datasets, experiments
from worthwhile.cli.common import Speaker
from worthwhile.costs.error_costs import is_missing


def run(capsys, *arguments):
    code = cli.run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), err


def write_table(path, names, rows):
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def read_rows(path):
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def heart():
    return datasets.load("heart", as_frame=False)


@pytest.fixture(scope="module")
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


def test_the_names_of_all_learners():
    assert sorted(cli._learners.LEARNERS.values()) == sorted(learner.__name__ for learner in LEARNERS)


# ---- learn


def test_what_is_learned_from_a_file_is_what_python_learns(folder, heart):
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    same = ww.DTMCClassifier(**known).fit(heart.X[:200], heart.y[:200])
    assert ww.load(folder / "model.json").tree_.to_text() == same.tree_.to_text()


def test_learn_says_what_it_took_the_columns_for_and_what_the_tree_costs(capsys, folder, tmp_path):
    target = ["--target", "class", "--costs", folder / "heart.toml", "-o", tmp_path / "model.json"]
    code, out, err = run(capsys, "learn", folder / "heart.csv", *target, "--learner", "dtmc")
    assert (code, err) == (0, "")
    assert "303 cases, 6 numeric columns, nominal: sex, cp, fbs, restecg, exang, slope, thal" in out
    assert "taken as numbers: ca; if codes, use --nominal" in out
    assert "DTMC learned from 303 cases" in out
    tree = ww.load(tmp_path / "model.json").tree_
    assert f"it may ask for {', '.join(tree.tests_used())} ({len(tree.tests_used())} of 13 tests)." in out
    assert "Canadian dollars per case" in out
    assert "no test, always “buff”: 229.37" in out
    assert "learned from these very cases" in out
    _, out, _ = run(
        capsys, "learn", folder / "heart.csv", *target, "--learner", "dtmc", "--nominal", "ca", "--drop", "age"
    )
    assert "5 numeric columns" not in out
    assert "4 numeric columns" in out
    assert "ca (declared)" in out
    assert ww.load(tmp_path / "model.json").tree_.schema.values[10] == ("0", "1", "2", "3")


def test_learn_without_costs_says_how_to_get_a_price_list(capsys, folder, tmp_path):
    code, out, _ = run(
        capsys, "learn", folder / "heart.csv", "--target", "class", "--learner", "c45", "-o", tmp_path / "m.json"
    )
    assert code == 0
    assert "tests are free, every error costs 1" in out
    assert f"worthwhile costs init {folder / 'heart.csv'} --target class -o costs.toml" in out
    assert ww.load(tmp_path / "m.json").costs is None


def test_learn_measures_on_cases_that_were_held_out(capsys, folder, tmp_path):
    out_file, report = tmp_path / "m.json", tmp_path / "report.html"
    options = ["--costs", folder / "heart.toml", "--learner", "eg2", "--set", "prune=cost", "--test-share", "0.3"]
    code, out, err = run(
        capsys,
        "learn",
        folder / "heart.csv",
        "--target",
        "class",
        *options,
        "-o",
        out_file,
        "--report",
        report,
        "--seed",
        5,
    )
    assert (code, err) == (0, "")
    assert "EG2 learned from 213 cases" in out
    assert "Cost per case on 90 held-out cases" in out
    for words in ("the model", "no test, always", "all tests, best", "C4.5", "The model saves", f"Report: {report}"):
        assert words in out
    assert ww.load(out_file).prune == "cost"
    assert report.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("learner", "options", "words"),
    [
        ("icet", ["--set", "trials=60", "--set", "population=10"], "ICET learned"),
        ("act", ["--time-limit", "0.5", "--set", "variant=paper", "--set", "r=2"], "ACT learned"),
        ("budget-forest", ["--budget", "20", "--set", "max_trees=5", "--set", "alpha=0,8"], "BudgetForest learned"),
        ("budget-forest", ["--budget", "0", "--set", "max_trees=5"], "no tree is within the budget"),
        ("c45cs", [], "C45CS learned"),
    ],
)
def test_learners_and_their_parameters(capsys, folder, tmp_path, learner, options, words):
    known = ["--target", "class", "--costs", folder / "heart.toml", "--learner", learner, "--jobs", "1"]
    code, out, err = run(capsys, "learn", folder / "train.csv", *known, *options, "-o", tmp_path / "m.json")
    assert (code, err) == (0, "")
    assert words in out
    clf = ww.load(tmp_path / "m.json")
    assert clf.n_jobs == 1
    if learner == "budget-forest" and "20" in options:
        assert (clf.budget, clf.max_trees, clf.alpha) == (20.0, 5, [0, 8])
    for command in (["show", tmp_path / "m.json"], ["evaluate", tmp_path / "m.json", folder / "new.csv.gz"]):
        assert run(capsys, *command)[0] == 0


def test_quiet_learning_and_the_same_seed_give_the_same_file(capsys, folder, tmp_path):
    texts = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        options = ["--learner", "budget-forest", "--set", "max_trees=3", "--seed", seed, "-q", "-o", tmp_path / name]
        found = run(capsys, "learn", folder / "train.csv", "--target", "class", *options)
        assert found == (0, "", "")
        texts.append((tmp_path / name).read_text())
    assert texts[0] == texts[1] != texts[2]


def test_classes_that_are_numbers(capsys, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 80)
    write_table(tmp_path / "d.csv", ["x", "y"], zip(x, (x > 50).astype(int), strict=True))
    (tmp_path / "c.toml").write_text("[tests]\nx = 1.0\n[errors.0]\n1 = 10\n[errors.1]\n0 = 20\n")
    options = ["--target", "y", "--costs", tmp_path / "c.toml", "--learner", "dtmc", "-o", tmp_path / "m.json"]
    assert run(capsys, "learn", tmp_path / "d.csv", *options)[0] == 0
    clf = ww.load(tmp_path / "m.json")
    assert clf.classes_.tolist() == [0, 1]
    assert clf.total_costs([[10.0], [90.0]], [0, 0]).tolist() == [1.0, 11.0]
    write_table(tmp_path / "e.csv", ["y", "x"], [["1.0", 90], ["0.0", 10]])  # the same classes, written otherwise
    code, out, _ = run(capsys, "evaluate", tmp_path / "m.json", tmp_path / "e.csv")
    assert code == 0
    assert "the model 1.00" in out


BAR = {"FORCE_COLOR": "1", "COLUMNS": "100"}


def start(*arguments, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", "from worthwhile.cli import main; main()", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


@pytest.mark.parametrize(
    ("learner", "options", "words"),
    [
        ("icet", ["--set", "trials=60", "--set", "population=10"], "of at most 60 trials, best"),
        ("act", ["--time-limit", "2"], "look-ahead of"),
        ("budget-forest", ["--set", "max_trees=300"], "of at most 300 trees, best"),
    ],
)
def test_searches_draw_a_bar_with_the_best_cost_so_far(folder, tmp_path, learner, options, words):
    known = ["--target", "class", "--costs", folder / "heart.toml", "--learner", learner, "-o", tmp_path / "m.json"]
    with start("learn", folder / "train.csv", *known, *options, **BAR) as process:
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert words in err


@pytest.mark.parametrize(
    ("learner", "slow"),
    [
        ("act", ["--time-limit", "300"]),
        ("icet", ["--set", "trials=10000000", "--set", "variant=paper"]),
        ("budget-forest", ["--set", "max_trees=20000"]),
    ],
)
def test_ctrl_c_saves_the_best_model_so_far(folder, tmp_path, learner, slow):
    known = ["--target", "class", "--costs", folder / "heart.toml", "--learner", learner, "-o", tmp_path / "m.json"]
    with start("learn", folder / "train.csv", *known, *slow, **BAR) as process:
        seen, patience = "", time.monotonic() + 100
        while "best" not in seen and time.monotonic() < patience:
            seen += process.stderr.read(20)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1].endswith(f"stopped; the best model so far is saved: {tmp_path / 'm.json'}")
    assert "Traceback" not in err
    assert ww.load(tmp_path / "m.json").next_test({}).spent == 0
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def test_ctrl_c_before_there_is_a_model(capsys, folder, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ww.C45Classifier, "fit", interrupted)
    options = ["--target", "class", "--learner", "c45", "-o", tmp_path / "m.json", "-q"]
    code, out, err = run(capsys, "learn", folder / "train.csv", *options)
    assert (code, out) == (130, "")
    assert err == "worthwhile: stopped before there was a model; nothing is saved\n"
    assert list(tmp_path.iterdir()) == []


# ---- evaluate


def test_evaluate_prints_the_model_and_three_other_ways(capsys, folder, heart):
    code, out, err = run(
        capsys,
        "evaluate",
        folder / "model.json",
        folder / "new.csv.gz",
        "--target",
        "class",
        "--train",
        folder / "train.csv",
    )
    assert (code, err) == (0, "")
    clf = ww.load(folder / "model.json")
    report = ww.metrics.cost_report(clf, heart.X[200:], heart.y[200:], heart.costs.standard_cost(heart.y))
    row = f"the model {report.test_cost:.2f} {report.error_cost:.2f} {report.total_cost:.2f} {report.error_rate:.1%}"
    assert f"{row} {report.normalized:.1f}%" in out
    assert "Cost per case on 103 cases, with 95% intervals" in out
    for words in ("no test, always", "all tests, best", "C4.5", "The others learned from 200 other cases."):
        assert words in out


def test_evaluate_finds_the_column_of_the_classes_and_writes_figures(capsys, folder, tmp_path):
    for suffix in ("csv", "json"):
        found = run(
            capsys, "evaluate", folder / "model.json", folder / "new.csv.gz", "-q", "-o", tmp_path / f"figures.{suffix}"
        )
        assert found == (0, "", "")
    rows = json.loads((tmp_path / "figures.json").read_text())
    texts = read_rows(tmp_path / "figures.csv")
    assert [row["way"] for row in rows] == [row["way"] for row in texts]
    assert rows[0]["total_cost"] == pytest.approx(float(texts[0]["total_cost"]))
    assert rows[0]["saving"] is None
    assert texts[0]["saving"] == ""
    for row in rows:
        assert row["total_cost_low"] <= row["total_cost"] <= row["total_cost_high"]
        assert row["total_cost"] == pytest.approx(row["test_cost"] + row["error_cost"])


def test_a_tree_written_by_hand_is_a_model_too(capsys, folder, tmp_path):
    tree = ww.load(folder / "model.json").tree_
    (tmp_path / "tree.json").write_text(tree.to_json())
    for command in ("evaluate", "predict"):
        options = ["-o", tmp_path / "answers.csv"] if command == "predict" else []
        assert run(capsys, command, tmp_path / "tree.json", folder / "new.csv.gz", *options)[0] == 0
    assert run(capsys, "show", tmp_path / "tree.json") == run(capsys, "show", folder / "model.json")


# ---- predict


def test_predict_adds_four_columns_and_keeps_the_others(capsys, folder, heart, tmp_path):
    code, out, err = run(
        capsys, "predict", folder / "model.json", folder / "new.csv.gz", "-o", tmp_path / "answers.csv"
    )
    assert (code, err) == (0, "")
    clf, X = ww.load(folder / "model.json"), heart.X[200:]
    assert f"103 answers for {clf.test_costs(X).mean():.2f} per case" in out
    rows = read_rows(tmp_path / "answers.csv")
    before = read_rows(folder / "new.csv.gz")
    added = ["answer", "price_paid", "tests_used", "confidence"]
    assert list(rows[0]) == [*before[0], *added]
    assert [{k: v for k, v in row.items() if k not in added} for row in rows] == before
    assert [row["answer"] for row in rows] == clf.predict(X).tolist()
    assert [float(row["price_paid"]) for row in rows] == pytest.approx(clf.test_costs(X).tolist())
    shares = clf.predict_proba(X)[np.arange(103), np.searchsorted(clf.classes_, clf.predict(X))]
    assert [float(row["confidence"]) for row in rows] == pytest.approx(shares.tolist(), abs=1e-4)
    for row in rows:
        tests = row["tests_used"].split(";")
        assert heart.costs._bill(tests) == pytest.approx(float(row["price_paid"]))


def test_predict_writes_what_the_suffix_says_and_to_the_screen(capsys, folder, tmp_path):
    assert cli.run(["predict", str(folder / "model.json"), str(folder / "new.csv.gz"), "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert (
        run(capsys, "predict", folder / "model.json", folder / "new.csv.gz", "-q", "-o", tmp_path / "a.csv.gz")[0] == 0
    )
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()).decode() == text


def test_predict_with_the_tests_that_were_done_alone(capsys, tmp_path, folder):
    clf = ww.load(folder / "model.json")
    used = clf.tree_.tests_used()
    rows = [{name: row[name] for name in used} for row in read_rows(folder / "new.csv.gz")]
    write_table(tmp_path / "few.csv", used, [list(row.values()) for row in rows])
    assert run(capsys, "predict", folder / "model.json", tmp_path / "few.csv", "-o", tmp_path / "few.out.csv")[0] == 0
    assert run(capsys, "predict", folder / "model.json", folder / "new.csv.gz", "-o", tmp_path / "all.csv")[0] == 0
    few, everything = read_rows(tmp_path / "few.out.csv"), read_rows(tmp_path / "all.csv")
    assert [row["answer"] for row in few] == [row["answer"] for row in everything]


def test_an_answer_that_is_no_class_has_no_confidence(capsys, tmp_path):
    write_table(tmp_path / "d.csv", ["x", "y"], [[i % 2, "ab"[i % 4 // 2]] for i in range(40)])
    (tmp_path / "c.toml").write_text("[errors.a]\nb = 10\nunknown = 1\n[errors.b]\na = 10\nunknown = 1\n")
    options = ["--target", "y", "--costs", tmp_path / "c.toml", "--learner", "dtmc", "-o", tmp_path / "m.json"]
    assert run(capsys, "learn", tmp_path / "d.csv", *options)[0] == 0
    assert run(capsys, "predict", tmp_path / "m.json", tmp_path / "d.csv", "-o", tmp_path / "a.csv")[0] == 0
    assert {(row["answer"], row["confidence"]) for row in read_rows(tmp_path / "a.csv")} == {("unknown", "")}


# ---- compare


def test_compare_prints_a_table_and_writes_figures_and_a_picture(capsys, folder, tmp_path):
    options = [
        "--costs",
        folder / "heart.toml",
        "--learners",
        "c45,dtmc,eg2",
        "--folds",
        "3",
        "--repeats",
        "2",
        "--jobs",
        1,
    ]
    code, out, err = run(capsys, "compare", folder / "heart.csv", "--target", "class", *options, "-o", tmp_path / "c")
    assert (code, err) == (0, "")
    assert "303 cases in 3 folds, 2 times" in out
    assert "more: than" in out
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == ["costs.csv", "costs.png", "folds.csv"]
    rows, folds = read_rows(tmp_path / "c" / "costs.csv"), read_rows(tmp_path / "c" / "folds.csv")
    totals = [float(row["total_cost"]) for row in rows]
    assert totals == sorted(totals)
    assert len(folds) == 6
    best, worst = rows[0]["learner"], rows[-1]["learner"]
    assert worst == "c45"
    pair = ww.metrics.compare({name: [float(fold[name]) for fold in folds] for name in (worst, best)})[0]
    assert float(rows[-1]["t_test"]) == pytest.approx(pair.t_test)
    assert float(rows[-1]["wilcoxon"]) == pytest.approx(pair.wilcoxon)
    assert (tmp_path / "c" / "costs.png").read_bytes().startswith(b"\x89PNG")


def test_compare_is_quiet_and_gives_searches_a_time_limit(capsys, folder, tmp_path):
    options = [
        "--learners",
        "lsid3,c45",
        "--folds",
        "2",
        "--time-limit",
        "1",
        "--jobs",
        "1",
        "-q",
        "-o",
        tmp_path / "c",
    ]
    assert run(capsys, "compare", folder / "train.csv", "--target", "class", *options) == (0, "", "")


# ---- show and next


def test_show_as_text_rules_graph_and_json(capsys, folder):
    tree = ww.load(folder / "model.json").tree_
    shown = {}
    for form in ("text", "rules", "dot", "json"):
        assert cli.run(["show", str(folder / "model.json"), "--format", form]) == 0
        shown[form] = capsys.readouterr().out.rstrip("\n")
    assert shown["text"] == tree.to_text()
    assert shown["dot"] == tree.to_dot().rstrip("\n")
    assert ww.Tree.from_json(shown["json"]).to_json() == tree.to_json()
    assert shown["rules"] == "\n".join(tree.rules())


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
    assert cli.run(["show", str(model), "--format", "json"]) == 0
    trees = json.loads(capsys.readouterr().out)
    assert [ww.Tree.from_json(json.dumps(tree)).to_text() for tree in trees] == [
        tree.to_text() for tree in ww.load(model).trees_
    ]
    assert cli.run(["show", str(model), "--tree", "2"]) == 0
    assert capsys.readouterr().out.rstrip("\n") == ww.load(model).trees_[1].to_text()
    code, _, err = run(capsys, "show", model, "--tree", 4)
    assert (code, err) == (2, f"worthwhile: {model}: there is no tree 4; the model has 3\n")
    code, out, err = run(capsys, "show", model, "--plot", tmp_path / "all.png")
    assert (code, out) == (2, "")  # refused before anything is shown
    assert "choose it with --tree" in err


def test_next_is_a_dialogue(folder, heart):
    clf = ww.load(folder / "model.json")
    first = clf.next_test({}).test
    with subprocess.Popen(
        [sys.executable, "-m", "worthwhile", "next", str(folder / "model.json"), "--known", f"{first}=u"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        out, err = process.communicate("u\n" * 20 + "\n", timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "Answer:" in out


def test_next_that_is_quiet_prints_the_answer_alone(capsys, folder, heart, monkeypatch):
    clf = ww.load(folder / "model.json")
    case = dict(zip(heart.feature_names, heart.X[250], strict=True))
    known = ",".join(f"{name}={value}" for name, value in case.items() if not is_missing(value))
    monkeypatch.setattr("builtins.input", lambda *_: "")
    code, out, err = run(capsys, "next", folder / "model.json", "--quiet", "--known", known)
    assert (code, out) == (0, clf.predict(heart.X[250:251])[0])
    assert err == "Press Enter to finish, or type undo: "  # what it asks does not mix with the answer


def test_next_that_is_stopped(capsys, folder, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    code, _, err = run(capsys, "next", folder / "model.json")
    assert (code, err) == (130, "worthwhile: stopped\n")


# ---- what all commands have


def commands():
    """Every command with its words on the command line."""
    group = typer.main.get_command(cli.app)
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        yield from ([(f"{name} {own}", one) for own, one in inner.items()] if inner else [(name, command)])


def test_every_command_takes_a_seed_and_may_be_quiet():
    found = {words: {option for one in command.params for option in one.opts} for words, command in commands()}
    assert {"learn", "predict", "next", "show", "costs init", "costs check"} <= set(found)
    assert [words for words, options in found.items() if not {"--seed", "--quiet"} <= options] == []


def test_a_seed_changes_nothing_where_nothing_is_random(capsys, folder, tmp_path):
    model, new, prices = folder / "model.json", folder / "new.csv.gz", folder / "heart.toml"
    for words in (
        ["predict", model, new, "-o", "-"],
        ["show", model],
        ["costs", "check", prices],
        ["costs", "init", new, "--target", "class", "--force", "-o", tmp_path / "c.toml"],
    ):
        first, second = (run(capsys, *words, *seed) for seed in ([], ["--seed", 7]))
        assert first[0] == 0
        assert first == second


def test_texts_that_look_like_markup_are_shown_as_they_are(capsys):
    Speaker(False).table(["[/way]", "[bold]cost"], [["the [low] way", "[/x]"], [":heart:", "2"]])
    out = capsys.readouterr().out
    for text in ("[/way]", "[bold]cost", "the [low] way", "[/x]", ":heart:"):
        assert text in out


def test_classes_that_look_like_markup(capsys, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 80)
    write_table(tmp_path / "d.csv", ["x", "y"], zip(x, np.where(x > 40, "[/x]", "[low]"), strict=True))
    options = ["--target", "y", "--learner", "dtmc", "--test-share", 0.3, "-o", tmp_path / "m.json"]
    code, out, err = run(capsys, "learn", tmp_path / "d.csv", *options)
    assert (code, err) == (0, "")
    assert "“[/x]”" in out


# ---- costs


def test_a_starter_price_list_is_a_price_list(capsys, folder, tmp_path):
    code, out, err = run(
        capsys,
        "costs",
        "init",
        folder / "heart.csv",
        "--target",
        "class",
        "--drop",
        "ca",
        "-o",
        tmp_path / "costs.toml",
    )
    assert (code, err) == (0, "")
    assert "12 tests at 1 each" in out
    costs = ww.Costs.read(tmp_path / "costs.toml")
    assert {test.price for test in costs.tests.values()} == {1.0}
    assert "ca" not in costs.tests
    assert "class" not in costs.tests
    assert costs.error_matrix(["buff", "sick"])[1].tolist() == [[0.0, 120.0], [120.0, 0.0]]
    text = (tmp_path / "costs.toml").read_text()
    for word in ("group", "delayed", "requires", "unknown", "currency"):
        assert word in text
    options = ["--costs", tmp_path / "costs.toml", "--learner", "dtmc", "--drop", "ca", "-o", tmp_path / "m.json"]
    assert run(capsys, "learn", folder / "heart.csv", "--target", "class", *options)[0] == 0


def test_comments_of_the_starter_are_right(capsys, folder, tmp_path):
    run(capsys, "costs", "init", folder / "heart.csv", "--target", "class", "-o", tmp_path / "costs.toml")
    text = (tmp_path / "costs.toml").read_text()
    for example in ('age = { price = 5.0, group = "blood" }', 'age = { price = 0.0, requires = ["sex", "cp"] }'):
        assert f"#   {example}\n" in text
        changed = text.replace("\nage = 1.0\n", f"\n{example}\n")
        if "group" in example:
            changed = changed.replace("# [groups]\n# blood", "[groups]\nblood")
        (tmp_path / "changed.toml").write_text(changed)
        assert "age" in ww.Costs.read(tmp_path / "changed.toml").tests


def test_a_starter_does_not_replace_a_file_unless_told(capsys, folder, tmp_path):
    mine = tmp_path / "costs.toml"
    mine.write_text("errors = 7")
    arguments = ["costs", "init", folder / "heart.csv", "--target", "class", "-o", mine]
    code, _, err = run(capsys, *arguments)
    assert (code, err) == (2, f"worthwhile: {mine}: is there already; --force replaces it\n")
    assert mine.read_text() == "errors = 7"
    assert run(capsys, *arguments, "--force", "-q") == (0, "", "")
    assert len(ww.Costs.read(mine).tests) == 13


def test_a_starter_for_odd_names_and_many_classes(capsys, tmp_path):
    names = ['heart rate "a"', "öl", "y"]
    write_table(tmp_path / "d.csv", names, [[i, -i, f"class {i % 9}"] for i in range(30)])
    assert run(capsys, "costs", "init", tmp_path / "d.csv", "--target", "y", "-o", tmp_path / "c.toml")[0] == 0
    costs = ww.Costs.read(tmp_path / "c.toml")
    assert list(costs.tests) == names[:2]
    assert costs.errors == 20.0


def test_costs_check(capsys, folder, tmp_path):
    code, out, _ = run(capsys, "costs", "check", folder / "heart.toml", folder / "heart.csv", "--target", "class")
    assert code == 0
    assert "every test has a price" in out
    assert "13 tests for 323.97 together" in out
    (tmp_path / "few.toml").write_text("errors = 5\n[tests]\nage = 1\n")
    _, out, _ = run(capsys, "costs", "check", tmp_path / "few.toml", folder / "heart.csv", "--target", "class")
    assert "; free: sex, cp, " in out
    code, out, _ = run(capsys, "costs", "check", tmp_path / "few.toml")
    assert (code, out) == (0, "Costs(1 test for 1 together, errors 5)")
    assert run(capsys, "costs", "check", tmp_path / "few.toml", "--target", "y")[0] == 2


# ---- Parquet


def test_the_whole_way_on_parquet(capsys, folder, tmp_path):
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    frame = polars.read_csv(folder / "heart.csv", infer_schema_length=None)
    frame.write_parquet(tmp_path / "heart.parquet")
    options = ["--target", "class", "--costs", folder / "heart.toml", "--learner", "dtmc", "-q"]
    assert run(capsys, "learn", tmp_path / "heart.parquet", *options, "-o", tmp_path / "p.json") == (0, "", "")
    assert run(capsys, "learn", folder / "heart.csv", *options, "-o", tmp_path / "c.json") == (0, "", "")
    assert (tmp_path / "p.json").read_text() == (tmp_path / "c.json").read_text()
    for source in (tmp_path / "heart.parquet", folder / "heart.csv"):
        assert run(capsys, "predict", tmp_path / "p.json", source, "-o", tmp_path / "a.parquet")[0] == 0
        found = polars.read_parquet(tmp_path / "a.parquet")
        assert run(capsys, "predict", tmp_path / "p.json", source, "-o", tmp_path / "a.csv")[0] == 0
        rows = read_rows(tmp_path / "a.csv")
        assert found["answer"].to_list() == [row["answer"] for row in rows]
        assert found["confidence"].to_list() == [float(row["confidence"]) for row in rows]
        assert math.isclose(found["price_paid"].sum(), sum(float(row["price_paid"]) for row in rows))
    assert run(capsys, "evaluate", tmp_path / "p.json", tmp_path / "heart.parquet")[0] == 0


# ---- clusters


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
