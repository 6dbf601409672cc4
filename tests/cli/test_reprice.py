"""`worthwhile reprice`, and other costs in `evaluate` and `show`."""

import json
import re
from pathlib import Path

import pytest

import worthwhile as ww
from command_line import COSTS, fails, read_rows, run_joined, write
from handmade import small
from worthwhile import cli
from worthwhile.tree.repricing import cost_parts, repriced

NEW = COSTS.replace("chol = 5.0", "chol = 8.0").replace("well = 100", "well = 900")


@pytest.mark.usefixtures("good_files")
def test_two_lists_are_compared(capsys):
    write("new.toml", NEW)
    code, out, err = run_joined(capsys, "reprice", "model.json", "--costs", "new.toml", "-o", "new.json")
    assert (code, err) == (0, "")
    assert "chol 5.00 8.00" in out
    assert "sick, answered well 100.00 900.00" in out
    assert "age" not in out.split("Per case")[0]
    old, new = ww.load("model.json"), ww.load("new.json")
    parts = cost_parts(repriced(old.tree_, ww.Costs.read("new.toml"), answers=False))
    assert f"new list {parts.tests:.2f} {parts.errors:.2f} {parts.total:.2f}" in out
    assert new.costs == new.tree_.costs == ww.Costs.read("new.toml")
    assert new.tree_.tests_used() == old.tree_.tests_used()
    assert not hasattr(new, "expected_cost_")
    assert "Model with the new costs: new.json" in out


@pytest.mark.usefixtures("good_files")
def test_on_cases_a_new_tree_is_learned(capsys):
    write("new.toml", COSTS.replace("age = 1.0", "age = 90.0"))
    options = ["--data", "good.csv", "--target", "class"]
    code, out, _ = run_joined(capsys, "reprice", "model.json", "--costs", "new.toml", *options)
    assert code == 0
    assert "Per case, on the 40 cases of good.csv:" in out
    new = ww.load("model.json").set_params(costs=ww.Costs.read("new.toml"))
    assert "learned again" in out
    assert re.search(r"A new tree differs: it .*no longer asks for age", out)
    assert "Learned again, a new case is expected to cost" in out
    assert new.costs.price("age") == 90.0
    write("same.toml", COSTS)
    code, out, _ = run_joined(capsys, "reprice", "model.json", "--costs", "same.toml", *options)
    assert out.startswith("Nothing changes: prices, groups and error costs are those of the model. Expected cost per")
    assert "new list" not in out
    assert "old list" not in out
    assert " the model " in out
    assert "A new tree asks for the same tests in the same way." in out
    code, out, _ = run_joined(capsys, "reprice", "model.json", "--errors", "sick:well=100")
    assert out.startswith("Nothing changes: the new error costs are those of the model.")


@pytest.mark.usefixtures("good_files")
def test_error_costs_from_the_shell(capsys):
    code, out, _ = run_joined(capsys, "reprice", "model.json", "--errors", "sick:well=40", "-o", "new.json")
    assert code == 0
    assert "sick, answered well 100.00 40.00" in out
    assert ww.load("new.json").costs.errors["sick"]["well"] == 40.0
    assert cli.run(["reprice", "model.json", "--errors", "7", "-q"]) == 0
    assert "there is no such error; write TRUTH:ANSWER=COST with the classes 'sick', 'well'" in fails(
        capsys, "reprice", "model.json", "--errors", "sick:ill=4"
    )
    assert "write a cost, or TRUTH:ANSWER=COST" in fails(capsys, "reprice", "model.json", "--errors", "much")
    assert "stands alone" in fails(capsys, "reprice", "model.json", "--errors", "7", "--errors", "sick:well=4")


@pytest.mark.usefixtures("good_files")
def test_errors_that_pay_are_questioned(capsys):
    code, _, err = run_joined(capsys, "reprice", "model.json", "--errors=-5")
    assert code == 0
    assert "a case of sick costs 0.00 if it is answered right, but -5.00 if it is answered well; is this meant?" in err
    assert run_joined(capsys, "reprice", "model.json", "--errors=5")[2] == ""


@pytest.mark.usefixtures("good_files")
def test_wrong_lists(capsys):
    assert fails(capsys, "reprice", "model.json").startswith("name new prices with --costs")
    write("other.toml", COSTS.replace("chol", "cholesterol"))
    assert "other.toml: the costs contain tests that are not columns" in fails(
        capsys, "reprice", "model.json", "--costs", "other.toml"
    )
    assert cli.run(["reprice", "model.json", "--costs", "other.toml", "--ignore-extra-prices", "-q"]) == 0
    X, y = [[float(i)] for i in range(30)], ["a", "b"] * 15
    ww.BudgetForestClassifier(budget=5.0, max_trees=2, random_state=0).fit(X, y).save("forest.json")
    assert "forest.json: a BudgetForestClassifier chose its tests by the old prices" in fails(
        capsys, "reprice", "forest.json", "--errors", "5"
    )


def test_a_tree_from_a_file_is_repriced(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("tree.json", json.dumps(small()))
    write("cases.csv", "x,y,class\n1,1,no\n-1,1,yes\n")
    options = ["--data", "cases.csv", "--target", "class", "-o", "new.json"]
    code, out, _ = run_joined(capsys, "reprice", "tree.json", "--errors", "70", *options)
    assert code == 0
    assert "A tree from a file has no learner; no new one is learned." in out
    assert ww.Tree.from_json(Path("new.json").read_text()).costs.errors == 70.0
    write("bare.json", json.dumps(small(nodes=[{"answer": "no"}])))
    code, out, _ = run_joined(capsys, "reprice", "bare.json", "--errors", "70")
    assert "the tree has no training weights" in out


@pytest.mark.usefixtures("good_files")
def test_evaluate_with_other_costs(capsys):
    write("new.toml", NEW)
    code, out, _ = run_joined(capsys, "evaluate", "model.json", "good.csv", "--costs", "new.toml", "-o", "r.csv")
    assert code == 0
    model = repriced(ww.load("model.json").tree_, ww.Costs.read("new.toml"), answers=False)
    rows = read_rows(Path("good.csv"))
    X = [[float(row["age"]), row["pain"], float(row["chol"])] for row in rows]
    import pandas as pd

    frame = pd.DataFrame(X, columns=["age", "pain", "chol"])
    expected = model.total_costs(frame, [row["class"] for row in rows]).mean()
    assert f"{expected:.2f}" in out
    assert "bad.toml" in fails(capsys, "evaluate", "model.json", "good.csv", "--costs", "bad.toml")


@pytest.mark.usefixtures("good_files")
def test_the_cost_curve_of_a_model(capsys):
    code, out, _ = run_joined(capsys, "show", "model.json", "--cost-curve")
    tree = ww.load("model.json").tree_
    parts = cost_parts(tree)
    assert code == 0
    assert f"2 200.00 {parts.tests:.2f} {2 * parts.errors:.2f} {parts.tests + 2 * parts.errors:.2f}" in out
    assert "times the present error costs, answering without a test is cheaper." in out
    X, y = [[float(i)] for i in range(30)], ["a", "b"] * 15
    ww.BudgetForestClassifier(budget=5.0, max_trees=2, random_state=0).fit(X, y).save("forest.json")
    assert "--cost-curve needs a single tree" in fails(capsys, "show", "forest.json", "--cost-curve")
    assert "--cost-curve is a table" in fails(capsys, "show", "model.json", "--cost-curve", "--format", "dot")
    write("bare.json", json.dumps(small(nodes=[{"answer": "no"}])))
    assert "has no training weights" in fails(capsys, "show", "bare.json", "--cost-curve")


def test_the_same_tree_is_the_same_whatever_the_order_of_its_nodes(capsys, folder):
    options = ["--data", folder / "train.csv", "--target", "class"]
    code, out, _ = run_joined(capsys, "reprice", folder / "model.json", "--costs", folder / "heart.toml", *options)
    assert code == 0
    assert "A new tree asks for the same tests in the same way." in out


def test_another_currency_and_answers_that_stay(capsys, folder, tmp_path):
    costs = ww.Costs.read(folder / "heart.toml")
    text = (folder / "heart.toml").read_text()
    (tmp_path / "usd.toml").write_text(text.replace(f'"{costs.currency}"', '"USD"'))
    code, out, err = run_joined(capsys, "reprice", folder / "model.json", "--costs", tmp_path / "usd.toml")
    assert code == 0
    assert err == f"worthwhile: the currency was {costs.currency} and is now USD; amounts are not converted\n"
    assert f"currency {costs.currency} USD" in out
    assert "Expected cost per case in USD" in out
    assert "same answers" not in out
    out = run_joined(capsys, "reprice", folder / "model.json", "--errors", "501")[1]
    assert "The model gives the same answers as before." in out
    err = run_joined(capsys, "reprice", folder / "model.json", "--errors", "Sick:buff=5")[2]
    assert err.endswith("write TRUTH:ANSWER=COST with the classes 'buff', 'sick'\n")


@pytest.mark.usefixtures("good_files")
def test_tests_that_no_longer_change_the_answer_are_named(capsys):
    out = run_joined(capsys, "reprice", "model.json", "--errors", "sick:well=0.5")[1]
    assert "Whatever the result of age, the new answer is well: the model still does the test, but" in out
