"""The command line takes care of what users have: no file is written over, no strange value goes unmentioned."""

import pytest

import worthwhile as ww
from worthwhile import cli
from worthwhile.cli import demo
from worthwhile.evaluation import sensitivity

ROWS = [("manual", 20, "good"), ("manual", 50, "bad"), ("office", 25, "good"), ("office", 60, "good")] * 10


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A table, a price list with a title, and a model, in the current folder."""
    monkeypatch.chdir(tmp_path)
    lines = ["job,age,outcome", *(",".join(map(str, row)) for row in ROWS)]
    (tmp_path / "cases.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "costs.toml").write_text('errors = 50\n[about]\ntitle = "Credit desk"\n[tests]\njob = 1.0\nage = 1.0\n')
    assert learn("-o", "model.json", "-q") == 0
    return tmp_path


def learn(*options):
    known = ["--target", "outcome", "--costs", "costs.toml", "--learner", "eg2"]
    return cli.run(["learn", "cases.csv", *known, *options])


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["learn", "-o", "cases.csv"], "--out cases.csv: is a file to read from; name another one to write to"),
        (["learn", "-o", "./costs.toml"], "--out costs.toml: is a file to read from"),
        (["learn", "-o", "m.json", "--report", "m.json"], "--report m.json: is to be written already"),
        (["predict", "model.json", "cases.csv", "-o", "cases.csv"], "--out cases.csv: is a file to read from"),
        (["predict", "model.json", "cases.csv", "-o", "model.json"], "--out model.json: is a file to read from"),
        (["evaluate", "model.json", "cases.csv", "-o", "cases.csv"], "--out cases.csv: is a file to read from"),
    ],
)
def test_nothing_is_written_over_what_is_read(desk, capsys, command, words):
    before = {path.name: path.read_bytes() for path in desk.iterdir()}
    code = learn(*command[1:]) if command[0] == "learn" else cli.run(command)
    assert code == 2
    assert capsys.readouterr().err.startswith(f"worthwhile: {words}")
    assert {path.name: path.read_bytes() for path in desk.iterdir()} == before


@pytest.mark.parametrize("command", [["predict", "-o", "out.csv"], ["evaluate", "--target", "outcome"]])
def test_values_that_the_model_does_not_know_are_mentioned(desk, capsys, command):
    text = (desk / "cases.csv").read_text()
    (desk / "capital.csv").write_text(text.replace("manual", "Manual"))
    words = "Column 'job': 20 of 40 values are unknown, e.g. 'Manual'; the model knows 'manual', 'office'"
    for file, mentioned in (("cases.csv", False), ("capital.csv", True)):
        assert cli.run([command[0], "model.json", file, *command[1:]]) == 0
        assert (words in " ".join(capsys.readouterr().out.split())) == mentioned


def test_the_report_bears_the_title_of_the_price_list(desk):
    assert learn("-o", "m.json", "--report", "report.html", "-q") == 0
    assert "<title>Credit desk</title>" in (desk / "report.html").read_text()


def test_a_quiet_dialogue_prints_the_answer_alone(desk, capsys, monkeypatch):
    answers = iter(["manual", "50", ""])
    monkeypatch.setattr("builtins.input", lambda: next(answers))
    assert cli.run(["next", "model.json", "-q"]) == 0
    said = capsys.readouterr()
    assert said.out == "bad\n"
    assert "job (manual, office): " in said.err


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


def test_a_quick_learner_serves_where_it_asks_the_same():
    heart = ww.datasets.load("heart", as_frame=False)
    known = {"costs": heart.costs, "nominal": heart.nominal, "columns": heart.feature_names, "random_state": 0}
    clf, quick = (ww.ACTClassifier(variant="paper", r=r, **known).fit(heart.X, heart.y) for r in (3, 1))
    assert sensitivity.faster(clf)[1] == {"r": 1}
    clf.tree_ = quick.tree_
    assert sensitivity.faster(clf, heart.X, heart.y)[1] == {"r": 1}
    nodes, schema, classes = quick.tree_.nodes, quick.tree_.schema, quick.tree_.classes
    clf.tree_ = ww.Tree(type(nodes).leaf(nodes.weights[0]), schema, classes)  # as if it asked for nothing
    assert sensitivity.faster(clf, heart.X, heart.y)[1] == {}
