"""`worthwhile learn`."""

import os
import re
import signal
import time

import numpy as np
import pytest

import worthwhile as ww
from command_line import BAR, fails, start, write_table
from command_line import run as run_lines
from command_line import run_joined as run
from worthwhile import cli
from worthwhile.cli import common
from worthwhile.cli.learners import LEARNERS, OPTIONS, find_learner
from worthwhile.learners.auto.classifier import _Contest


def test_what_is_learned_from_a_file_is_what_python_learns(folder, heart):
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names}
    same = ww.DTMCClassifier(**known).fit(heart.X[:200], heart.y[:200])
    assert ww.load(folder / "model.json").tree_.to_text() == same.tree_.to_text()


def test_learn_says_what_it_took_the_columns_for_and_what_the_tree_costs(capsys, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    target = ["--target", "class", "--costs", folder / "heart.toml", "-o", tmp_path / "model.json"]
    code, printed, err = run_lines(capsys, "learn", folder / "heart.csv", *target, "--learner", "dtmc")
    out = " ".join(printed.split())
    assert (code, err) == (0, "")
    assert "303 cases, 14 columns." in out
    lines = {line.split()[0]: " ".join(line.split()) for line in printed.splitlines() if line.strip()}
    assert lines["column"] == "column type values range missing price use"
    assert lines["age"] == "age number 41 29 to 77 1.00 yes"
    assert lines["thal"] == "thal category 3 fix, norm, rev 2 102.90 yes"
    assert lines["ca"].startswith("ca number 4 0 to 3 4 100.90 yes; a code?")
    assert lines["class"] == "class category 2 buff, sick the class"
    assert "few values: ca; if they are codes, use --nominal" in out
    assert "DTMC was trained on 303 cases" in out
    tree = ww.load(tmp_path / "model.json").tree_
    assert f"it may ask for {', '.join(tree.tests_used())} ({len(tree.tests_used())} of 13 tests)." in out
    assert "Canadian dollars per case" in out
    assert "no test, always “buff”: 229.37" in out
    assert "trained on these same cases" in out
    _, out, _ = run(
        capsys, "learn", folder / "heart.csv", *target, "--learner", "dtmc", "--nominal", "ca", "--drop", "age"
    )
    assert " age number" not in out
    assert "ca category 4 0, 1, 2, 3 4 100.90 yes, as declared" in out
    assert ww.load(tmp_path / "model.json").tree_.schema.values[10] == ("0", "1", "2", "3")


def test_learn_without_costs_says_how_to_get_a_price_list(capsys, folder, tmp_path):
    code, out, _ = run(
        capsys, "learn", folder / "heart.csv", "--target", "class", "--learner", "c45", "-o", tmp_path / "m.json"
    )
    assert code == 0
    assert "tests are free, every error costs 1" in out
    assert f"worthwhile costs init {folder / 'heart.csv'} --target class -o costs.toml" in out
    assert ww.load(tmp_path / "m.json").costs is None


def test_a_report_holds_cases_out_and_names_them(capsys, folder, tmp_path):
    lines = (folder / "heart.csv").read_text().splitlines()
    named = ["patient," + lines[0], *(f"P-{i:03d},{line}" for i, line in enumerate(lines[1:], 2))]
    (tmp_path / "named.csv").write_text("\n".join(named))
    model, report = tmp_path / "m.json", tmp_path / "report.html"
    command = ["learn", tmp_path / "named.csv", "--target", "class", "--learner", "dtmc", "--drop", "patient"]
    code, out, _ = run(capsys, *command, "-o", model, "--report", report)
    assert code == 0
    assert "(30% of the cases) are held out for the report; --test-share 0 trains on all of them." in out
    assert "held-out cases" in out
    cases = re.findall(r"line (\d+): patient P-(\d+)", report.read_text())
    assert len(cases) == 10
    assert all(int(line) == int(number) for line, number in cases)
    code, out, _ = run(capsys, *command, "-o", model, "--report", report, "--test-share", 0)
    assert "held out" not in out
    assert "cost on the training cases" in report.read_text()


def test_a_report_on_too_few_cases_holds_none_out(capsys, tmp_path):
    (tmp_path / "few.csv").write_text("x,y\n1,a\n2,b\n")
    command = ["learn", tmp_path / "few.csv", "--target", "y", "--learner", "dtmc"]
    code, out, _ = run(capsys, *command, "-o", tmp_path / "m.json", "--report", tmp_path / "r.html")
    assert (code, "held out" in out) == (0, False)
    assert "cost on the training cases" in (tmp_path / "r.html").read_text()


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
    assert "EG2 was trained on 213 cases" in out
    assert "Cost per case in Canadian dollars on 90 held-out cases" in out
    for words in ("the model", "no test, always", "all tests, best", "C4.5", "The model saves", f"Report: {report}"):
        assert words in out
    assert ww.load(out_file).prune == "cost"
    assert report.read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("learner", "options", "words"),
    [
        ("icet", ["--set", "trials=60", "--set", "population=10"], "ICET was trained"),
        ("act", ["--time-limit", "0.5", "--set", "variant=paper", "--set", "r=2"], "ACT was trained"),
        ("cascade", ["--set", "n_trees=5"], "Cascade was trained"),
        ("budget-forest", ["--budget", "20", "--set", "max_trees=5", "--set", "alpha=0,8"], "BudgetForest was trained"),
        ("budget-forest", ["--budget", "0", "--set", "max_trees=5"], "no tree fits the budget"),
        ("c45cs", [], "C45CS was trained"),
    ],
)
def test_learners_and_their_parameters(capsys, folder, tmp_path, learner, options, words):
    known = ["--target", "class", "--costs", folder / "heart.toml", "--learner", learner, "--jobs", "1"]
    code, out, err = run(capsys, "learn", folder / "train.csv", *known, *options, "-o", tmp_path / "m.json")
    assert code == 0
    assert all(
        line.startswith(("worthwhile: warning: ", "worthwhile: --budget 0 is too small")) for line in err.splitlines()
    )
    assert ("is too small for a single tree" in err) == ("no tree fits" in words)
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
    write_table(tmp_path / "e.csv", ["y", "x"], [["1.0", 90], ["0.0", 10]])  # the same classes, written differently
    code, out, _ = run(capsys, "evaluate", tmp_path / "m.json", tmp_path / "e.csv")
    assert code == 0
    assert "the model 1.00" in out


@pytest.mark.parametrize(
    ("learner", "options", "words"),
    [
        ("icet", ["--set", "trials=60", "--set", "population=10"], "of at most 60 trials, best"),
        ("act", ["--time-limit", "1"], "look-ahead of"),
        ("budget-forest", ["--set", "variant=paper", "--set", "max_trees=100"], "of at most 100 trees, best"),
    ],
)
def test_searches_draw_a_bar_with_the_best_cost_so_far(capsys, folder, tmp_path, monkeypatch, learner, options, words):
    for name, value in BAR.items():
        monkeypatch.setenv(name, value)
    known = ["--target", "class", "--costs", folder / "heart.toml", "--learner", learner, "-o", tmp_path / "m.json"]
    code, _, err = run(capsys, "learn", folder / "train.csv", *known, *options)
    assert code == 0
    assert words in err
    assert re.search(r"\d%", err)
    assert re.search(r"\d:\d\d:\d\d left", err)


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
        seen, patience = "", time.monotonic() + 300
        while "best" not in seen and time.monotonic() < patience:
            seen += process.stderr.read(20)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "the best model so far. On these cases it pays " in " ".join(out.split())
    assert err.strip().splitlines()[-1].endswith(f"stopped; the best model so far is saved: {tmp_path / 'm.json'}")
    assert "Traceback" not in err
    assert ww.load(tmp_path / "m.json").next_test({}).spent == 0
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


@pytest.mark.parametrize(("learner", "kept"), [("act", "act"), ("lsid3", "dtmc"), ("icet", "dtmc")])
def test_after_ctrl_c_a_dtmc_tree_is_kept_where_it_costs_less(capsys, folder, tmp_path, monkeypatch, learner, kept):
    """ACT has its first tree, which is good; LSID3's ignores costs; ICET has none."""

    def interrupted(self, X, y):
        if learner != "icet":
            fit(self.set_params(r=1), X, y)
        raise KeyboardInterrupt

    maker = find_learner(learner)
    fit = maker.fit
    monkeypatch.setattr(maker, "fit", interrupted)
    known = ["--target", "class", "--costs", folder / "heart.toml", "--learner", learner, "-o", tmp_path / "m.json"]
    code, out, err = run(capsys, "learn", folder / "train.csv", *known)
    assert code == 130
    assert f"kept: {kept.upper()}, the best model so far. On these cases it pays" in " ".join(out.split())
    assert "the best model so far is saved" in err
    assert isinstance(ww.load(tmp_path / "m.json"), find_learner(kept))


def test_a_model_that_costs_more_than_no_test_says_so(capsys, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    write_table(tmp_path / "d.csv", ["x", "y"], zip(x, np.where(x + rng.normal(size=60) > 0, "a", "b"), strict=True))
    (tmp_path / "c.toml").write_text("errors = 5\n\n[tests]\nx = 10\n")
    known = ["--target", "y", "--costs", tmp_path / "c.toml", "-o", tmp_path / "m.json"]
    for learner, warned in (("c45", True), ("dtmc", False)):
        code, _, err = run(capsys, "learn", tmp_path / "d.csv", *known, "--learner", learner)
        assert code == 0
        assert ("worthwhile: warning: on its own training cases the model costs 1" in err) == warned
        assert ("no test, always" in err) == warned


def test_ctrl_c_before_there_is_a_model(capsys, folder, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ww.C45Classifier, "fit", interrupted)
    options = ["--target", "class", "--learner", "c45", "-o", tmp_path / "m.json", "-q"]
    code, out, err = run(capsys, "learn", folder / "train.csv", *options)
    assert (code, out) == (130, "")
    assert err == "worthwhile: stopped before a model was found; nothing is saved\n"
    assert list(tmp_path.iterdir()) == []


def test_classes_that_look_like_markup(capsys, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 100, 80)
    write_table(tmp_path / "d.csv", ["x", "y"], zip(x, np.where(x > 40, "[/x]", "[low]"), strict=True))
    options = ["--target", "y", "--learner", "dtmc", "--test-share", 0.3, "-o", tmp_path / "m.json"]
    code, out, err = run(capsys, "learn", tmp_path / "d.csv", *options)
    assert (code, err) == (0, "")
    assert "“[/x]”" in out


def test_eg2_uses_error_costs_and_a_learner_that_does_not_pay_says_so(capsys, folder, tmp_path, heart):
    costs = heart.costs.with_errors({"buff": {"sick": 2.0}, "sick": {"buff": 5.0}})
    costs.write(tmp_path / "costs.toml")
    options = ["--target", "class", "--costs", tmp_path / "costs.toml", "-o", tmp_path / "model.json"]
    words = "on its own training cases the model costs"
    _, out, err = run(capsys, "learn", folder / "heart.csv", *options, "--learner", "eg2")
    clf = ww.load(tmp_path / "model.json")
    assert f"A new case is expected to cost {clf.expected_cost_:.2f} Canadian dollars (" in out
    assert (clf.prune, clf.answer) == ("cost", "least-cost")
    assert words not in err
    as_published = ["--set", "prune=pessimistic", "--set", "answer=majority"]
    _, _, err = run(capsys, "learn", folder / "heart.csv", *options, "--learner", "eg2", *as_published)
    assert ww.load(tmp_path / "model.json").answer == "majority"
    assert words in err


def learn(capsys, data, *options, target="class", costs="costs.toml"):
    known = ["--costs", costs] if costs else []
    return fails(
        capsys, "learn", data, "--target", target, *known, "--learner", "dtmc", "-q", "-o", "new.json", *options
    )


@pytest.mark.usefixtures("good_files")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--learner", "atc"],
            "there is no learner 'atc'; did you mean 'act'? (all: auto, act, optimal, cascade, icet, ",
        ),
        (["--set", "rr=3"], "--set rr: dtmc has no such parameter;"),
        (["--set", "r"], "--set r: write a setting as name=value, e.g. --set r=10"),
        (["--set", "r={[]:1}"], "--set r: invalid value; write it as in Python, e.g. --set r=10"),
        (["--set", "prune=" + "-" * 100_000 + "1"], "--set prune: invalid value"),
        (["--set", "prune=(1"], "DTMCClassifier: invalid prune='(1'"),
        (["--set", "costs=3"], "--set costs: this parameter is set by --costs"),
        (["--set", "prune=hard"], "DTMCClassifier: invalid prune='hard'; choose 'pessimistic', "),
        (["--budget", "3"], "--budget: not available for dtmc, only for cascade, budget-forest"),
        (
            ["--time-limit", "3"],
            "--time-limit: not available for dtmc, only for auto, act, optimal, cascade, icet, ",
        ),
        (
            ["--learner", "act", "--time-limit", "0"],
            "ACTClassifier: invalid time_limit=0.0; it must be a number above",
        ),
        (["--test-share", "1"], "--test-share 1: must be at least 0 and below 1"),
        (["--test-share", "0.001"], "--test-share 0.001: no case is held out with 40 cases"),
        (["--jobs", "0"], "DTMCClassifier: invalid n_jobs=0"),
        (["--nominal", "ag"], "good.csv: no column 'ag', given by --nominal; did you mean 'age'?"),
        (["--drop", "id"], "good.csv: no column 'id', given by --drop; valid: "),
        (["--drop", "class"], "--drop: 'class' is the target column"),
        (
            ["--cluster", "tcp://nowhere:1"],
            "--cluster: not available for dtmc, only for icet and budget-forest",
        ),
        (["--learner", "icet", "--cluster", "nowhere"], "'nowhere' is not a cluster address"),
    ],
)
def test_wrong_options_of_learn(capsys, options, words):
    assert learn(capsys, "good.csv", *options).startswith(words)


@pytest.mark.usefixtures("good_files")
def test_outputs_that_cannot_be_written(capsys):
    os.mkdir("taken")
    for option in ("-o", "--report"):
        assert learn(capsys, "good.csv", option, "taken") == "taken: is a folder, not a file"
        assert learn(capsys, "good.csv", option, "no/where.json") == (
            "no/where.json: cannot be written: there is no folder no"
        )
        assert learn(capsys, "good.csv", option, "/proc/model.json").startswith("/proc/model.json: cannot be written")
    assert fails(capsys, "predict", "model.json", "good.csv", "-o", "taken") == "taken: is a folder, not a file"
    assert fails(capsys, "predict", "model.json", "good.csv", "-o", "a.docx").startswith(
        "a.docx: unknown suffix '.docx'"
    )
    compare = ["compare", "good.csv", "--target", "class", "--learners", "eg2,c45", "-q", "-o", "good.csv"]
    assert fails(capsys, *compare) == "good.csv: is a file, not a folder"
    assert fails(capsys, "show", "model.json", "-q", "--plot", "no/a.png").startswith("no/a.png: cannot be written")


def test_the_help_lists_the_parameters_of_every_learner(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = run_lines(capsys, "learn", "--help")
    assert code == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert any(line.startswith("variant refined, paper or none") for line in lines)
    assert any(line.startswith("max_trees a whole number from 1 to 30,000") for line in lines)
    for learner in LEARNERS:
        for name in find_learner(learner)._parameter_names():
            assert name in OPTIONS or any(line.startswith(f"{name} ") for line in lines)


def test_a_choice_may_be_called_none(folder, tmp_path):
    known = ["learn", folder / "train.csv", "--target", "class", "-q", "-o", tmp_path / "m.json", "--learner", "c45"]
    assert cli.run([str(a) for a in [*known, "--set", "prune=none", "--set", "max_depth=none"]]) == 0
    model = ww.load(tmp_path / "m.json")
    assert (model.prune, model.max_depth) == ("none", None)


def test_reading_a_large_file_draws_a_bar(capsys, folder, tmp_path, monkeypatch):
    for name, value in BAR.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(common, "PATIENCE", 0.0)
    known = ["learn", folder / "train.csv", "--target", "class", "-o", tmp_path / "m.json", "--learner", "c45"]
    assert "reading train.csv" in run(capsys, *known)[2]
    assert run(capsys, *known, "-q") == (0, "", "")
    monkeypatch.delenv("FORCE_COLOR")
    assert "reading" not in run(capsys, *known)[2]  # not a terminal


def test_a_readable_tree_and_what_it_costs(capsys, folder, tmp_path):
    common = ["learn", folder / "heart.csv", "--target", "class", "-o", tmp_path / "model.json", "--learner", "c45"]
    _, out, _ = run(capsys, *common, "--set", "prune=none", "--min-cases", "1")
    full = ww.load(tmp_path / "model.json").tree_.n_leaves
    assert full > 50
    assert f"The tree has {full} leaves: too many to read; --readable gives the cheapest part of it" in out
    _, out, _ = run(capsys, *common, "--set", "prune=none", "--min-cases", "1", "--readable")
    leaves = ww.load(tmp_path / "model.json").tree_.n_leaves
    assert 1 < leaves <= 16
    assert f"The tree has {leaves} leaves and costs 0." in out
    assert f"by the estimate of pruning; the whole tree, with {full} leaves, costs 0." in out
    _, out, _ = run(capsys, *common, "--max-leaves", "1000")
    assert "it did not have to be cut" in out
    _, out, _ = run(capsys, *common, "--max-leaves", "5", "--readable")
    assert 1 < ww.load(tmp_path / "model.json").tree_.n_leaves <= 5
    forest = ["learn", folder / "heart.csv", "--target", "class", "--learner", "budget-forest", "--readable"]
    assert "--max-leaves: not available for budget-forest, only for auto, act, optimal, icet, eg2" in fails(
        capsys, *forest
    )


def test_without_a_learner_several_are_tried_and_the_choice_is_explained(capsys, folder, tmp_path):
    path, picture = tmp_path / "model.json", tmp_path / "tried.png"
    costs = ["--target", "class", "--costs", folder / "heart.toml", "-o", path]
    quick = ["--set", "learners=dtmc,eg2"]
    _, out, _ = run(capsys, "learn", folder / "heart.csv", *costs, *quick, "--explain-choice")
    clf = ww.load(path)
    [chosen] = [one.name for one in clf.candidates_ if one.chosen]
    assert f"AutoClassifier tried {len(clf.candidates_)} learners in " in out
    assert f"and kept {chosen}. It was trained" in out
    expects = f"A new case is expected to cost {clf.expected_cost_:.2f}"
    assert expects in out
    assert expects in run(capsys, "show", path)[1]
    assert "cost per case 95 % interval" in out
    assert clf.explain_choice().splitlines()[-1] in out
    _, shown, _ = run(capsys, "show", path, "--explain-choice", "--plot", picture)
    assert " ".join(clf.explain_choice().split()) in shown
    assert picture.read_bytes().startswith(b"\x89PNG")
    readable = [*quick, "--readable", "--report", tmp_path / "report.html"]
    run(capsys, "learn", folder / "heart.csv", *costs, *readable)
    assert "the best of several learners (AutoClassifier)" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert ww.load(path).readable
    assert ww.load(path).tree_.n_leaves <= 16


def test_after_ctrl_c_the_name_of_the_chosen_learner_is_shown(capsys, folder, tmp_path, monkeypatch):
    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("worthwhile.learners.auto.classifier._Contest._hold", interrupted)
    known = ["--target", "class", "--costs", folder / "heart.toml", "--set", "learners=dtmc", "-o", tmp_path / "m.json"]
    code, out, _ = run(capsys, "learn", folder / "train.csv", *known)
    assert code == 130
    assert "kept: DTMC, the best model so far." in out


@pytest.mark.parametrize(("finished", "kept"), [(1, "DTMC"), (3, "EG2"), (0, "EG2")])
def test_after_ctrl_c_what_was_tried_is_shown(capsys, folder, tmp_path, monkeypatch, finished, kept):
    """DTMC, from all cases, takes the place of what costs more; EG2 is made to cost less than it does."""
    runs, run_one, path = [], _Contest._run, tmp_path / "m.json"

    def interrupted(self, entrant, race, part, others):
        if len(runs) == finished:
            raise KeyboardInterrupt
        runs.append(entrant.name)
        run_one(self, entrant, race, part, others)
        if entrant.name == kept:
            race.costs[kept][-1] -= 150

    monkeypatch.setattr(_Contest, "_run", interrupted)
    known = ["--target", "class", "--costs", folder / "heart.toml", "--set", "learners=eg2", "-o", path]
    code, out, err = run_lines(capsys, "learn", folder / "train.csv", *known, "--explain-choice")
    assert code == 130
    assert f"stopped; the best model so far is saved: {path}" in err
    assert f"kept: {kept}, the best model so far." in " ".join(out.split())
    table = ww.load(path).explain_choice()
    assert table in out
    assert all(name in table for name in (*runs, kept))
    assert table.count("chosen") == 1
    reason = "nothing was compared: too few cases" if not finished else "the lowest cost on cases left out in training"
    assert f"{kept}: {reason}" in table
    code, out, _ = run_lines(capsys, "show", path, "--explain-choice")
    assert (code, out) == (0, table + "\n")


def test_after_ctrl_c_before_anything_was_tried(capsys, folder, tmp_path, monkeypatch):
    def interrupted(self, training):
        raise KeyboardInterrupt

    monkeypatch.setattr(ww.AutoClassifier, "_learn", interrupted)
    known = ["--target", "class", "--costs", folder / "heart.toml", "-o", tmp_path / "m.json", "--explain-choice"]
    code, out, _ = run(capsys, "learn", folder / "train.csv", *known)
    assert code == 130
    assert "No learner was tried before it was stopped." in out
    assert isinstance(ww.load(tmp_path / "m.json"), ww.DTMCClassifier)


def test_the_choice_of_one_learner_is_not_explained(capsys, folder, tmp_path):
    path = tmp_path / "model.json"
    one = ["learn", folder / "heart.csv", "--target", "class", "--learner", "dtmc", "-o", path]
    assert "--explain-choice: dtmc is the only learner" in fails(capsys, *one, "--explain-choice")
    run(capsys, *one)
    assert "no other learner was tried" in fails(capsys, "show", path, "--explain-choice")


@pytest.mark.parametrize("learner", ["dtmc", "act", "budget-forest"])
def test_a_cap_is_passed_on_and_kept(capsys, folder, tmp_path, heart, learner):
    path = tmp_path / "model.json"
    options = ["--costs", folder / "heart.toml", "--learner", learner, "-o", path]
    code, out, _ = run(capsys, "learn", folder / "heart.csv", "--target", "class", *options, "--cap", "20")
    assert code == 0
    assert "The tests of a case never cost more than 20." in out
    clf = ww.load(path)
    assert clf.cap == 20
    assert 0 < clf.test_costs(heart.X).max() <= 20
    assert clf._document()["needs"] == ["cap"]


def test_a_cap_must_be_a_number_of_at_least_0(capsys, folder):
    common = ["learn", folder / "heart.csv", "--target", "class"]
    # The words after the option are typer's and differ between its releases.
    assert re.search(r"'--cap': .*(equal to 0|x>=0)", fails(capsys, *common, "--cap", "-1"))
    assert "--set cap: this parameter is set by --cap" in fails(capsys, *common, "--set", "cap=5")


def test_trees_like_the_best_one_are_counted_in_the_output_and_the_report(capsys, tmp_path):
    rows = [f"{i % 3},{i % 2},{'yes' if i % 3 else 'no'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    model, report = tmp_path / "m.json", tmp_path / "r.html"
    settings = ["--set", "soft_labels=0", "--set", "leaf_price=0.01", "--set", "cross_fit=false"]
    command = ["learn", tmp_path / "t.csv", "--target", "y", "--learner", "optimal", *settings]
    code, out, _ = run(capsys, *command, "-o", model, "--report", report)
    assert code == 0
    assert "No other tree costs at most 5 % more on the training cases." in " ".join(out.split())
    assert "No other tree costs at most 5 % more on the training cases." in report.read_text()
    assert '"near_optimal": {"objective": ' in model.read_text()


def test_nominal_values_may_be_divided_into_two(capsys, folder, tmp_path):
    for ways, most in (("multiway", 4), ("subset", 2)):
        options = ["--costs", folder / "heart.toml", "--learner", "eg2", "--set", f"nominal_splits={ways}"]
        target = ["--target", "class", "-o", tmp_path / "m.json"]
        assert run(capsys, "learn", folder / "heart.csv", *target, *options)[0] == 0
        tree = ww.load(tmp_path / "m.json").tree_
        asked = [tree.nodes.n_children[node] for node in np.flatnonzero(tree.nodes.test >= 0)]
        assert max(asked) == most
    code, _, err = run(capsys, "learn", folder / "heart.csv", *target, "--set", "nominal_splits=binary")
    assert code == 2
    assert "choose 'multiway', 'subset' or 'both'" in err


def test_the_search_for_break_even_prices_can_be_switched_off(capsys, folder, tmp_path):
    report = tmp_path / "r.html"
    known = ["learn", folder / "heart.csv", "--target", "class", "--costs", folder / "heart.toml", "--learner", "dtmc"]
    assert run(capsys, *known, "-q", "-o", tmp_path / "m.json", "--report", report, "--break-even", "0")[0] == 0
    assert "The search for break-even prices was switched off." in report.read_text(encoding="utf-8")
    assert run(capsys, *known, "-q", "-o", tmp_path / "m.json", "--report", report, "--break-even", "30")[0] == 0
    assert "Price at which each test enters or leaves the tree" in report.read_text(encoding="utf-8")


@pytest.mark.usefixtures("good_files")
def test_all_learners_are_listed_once(capsys):
    message = learn(capsys, "good.csv", "--learner", "magic")
    assert message.startswith("there is no learner 'magic'; valid: auto, act, ")
    assert message.count("budget-forest") == 1
