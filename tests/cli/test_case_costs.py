"""`--case-price` and `--case-error`."""

import json

import numpy as np
import pytest

import worthwhile as ww
from command_line import fails, read_rows, write_table
from command_line import run_joined as run
from worthwhile.cli.case_costs import CaseColumns

PRICES = "[tests]\nincome = 1.0\nvisit = 1.5\n\n[errors]\nbad = { good = 100.0 }\ngood = { bad = 10.0 }\n"
BY_CASE = ("--case-error", "good=amount", "--case-price", "visit=distance")


def loan_rows(n=200, seed=0):
    rng = np.random.default_rng(seed)
    income, visit = rng.normal(size=(2, n)).round(2)
    amount, distance = rng.exponential(100, n).round(), rng.exponential(4, n).round(1)
    paid = np.where(income + visit + rng.normal(size=n) / 4 > 0.8, "bad", "good")
    return [list(row) for row in zip(income, visit, amount, distance, paid, strict=True)]


@pytest.fixture
def loans(tmp_path):
    names = ["income", "visit", "amount", "distance", "paid"]
    write_table(tmp_path / "loans.csv", names, loan_rows())
    write_table(tmp_path / "new.csv", names, loan_rows(seed=1))
    (tmp_path / "loans.toml").write_text(PRICES)
    return tmp_path


def tables(rows):
    """X, y, prices and error costs of the cases, as Python would be given them."""
    income, visit, amount, distance, paid = zip(*rows, strict=True)
    y = np.array(paid)
    E = np.column_stack([np.where(y == "good", 10.0, 0.0), np.where(y == "bad", amount, 0.0)])
    return np.column_stack([income, visit]), y, np.column_stack([np.ones(len(y)), distance]), E


def test_columns_say_what_tests_and_wrong_answers_cost(capsys, loans):
    code, out, err = run(
        capsys, "learn", loans / "loans.csv", "--target", "paid", "--costs", loans / "loans.toml", "--learner", "dtmc",
        *BY_CASE, "-o", loans / "model.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "Prices by case: visit from distance; these columns are not used as tests." in out
    assert "Costs of wrong answers by case: good from amount; these columns are not used as tests." in out
    X, y, prices, errors = tables(loan_rows())
    costs = ww.Costs.read(loans / "loans.toml")
    clf = ww.DTMCClassifier(costs=costs, columns=["income", "visit"]).fit(X, y, case_prices=prices, case_errors=errors)
    model = ww.load(loans / "model.json")
    assert model.tree_.to_json() == ww.Tree.from_json(clf.tree_.to_json()).to_json()
    own = clf.total_costs(X, y, prices, errors)
    assert f"{own.mean():.2f} per case" in out
    assert json.loads((loans / "model.json").read_text())["needs"] == ["answer_costs"]


def test_evaluate_and_predict_charge_what_the_columns_say(capsys, loans):
    known = "--target", "paid", "--costs", loans / "loans.toml", "--learner", "dtmc"
    run(capsys, "learn", loans / "loans.csv", *known, *BY_CASE, "-o", loans / "model.json", "-q")
    out = loans / "results.csv"
    code, _, err = run(
        capsys, "evaluate", loans / "model.json", loans / "new.csv", "--target", "paid", *BY_CASE, "-o", out,
        "--train", loans / "loans.csv",
    )  # fmt: skip
    assert (code, err) == (0, "")
    X, y, prices, errors = tables(loan_rows(seed=1))
    # A right answer costs what the model's error costs say: nothing; a refused good loan their mean.
    clf, rows = ww.load(loans / "model.json"), read_rows(out)
    assert float(rows[0]["test_cost"]) == pytest.approx(clf.test_costs(X, prices).mean())
    assert float(rows[0]["total_cost"]) == pytest.approx(clf.total_costs(X, y, prices, errors).mean())
    none = next(row for row in rows if row["strategy"].startswith("no test"))
    answer = "good" if "good" in none["strategy"] else "bad"
    assert float(none["error_cost"]) == pytest.approx(errors[:, ["bad", "good"].index(answer)].mean())
    everything = next(row for row in rows if row["strategy"].startswith("all tests"))
    assert float(everything["test_cost"]) == pytest.approx(prices.sum(axis=1).mean())
    answers = loans / "answers.csv"
    run(capsys, "predict", loans / "model.json", loans / "new.csv", "--case-price", "visit=distance", "-o", answers)
    paid = [float(row["price_paid"]) for row in read_rows(answers)]
    assert paid == pytest.approx(clf.test_costs(X, prices).tolist())


def test_a_cap_holds_for_the_prices_in_the_column(capsys, loans):
    known = (
        "--target",
        "paid",
        "--costs",
        loans / "loans.toml",
        "--learner",
        "dtmc",
        "--cap",
        "4",
        "--drop",
        "amount,distance",
    )
    run(capsys, "learn", loans / "loans.csv", *known, "-o", loans / "model.json", "-q")
    model = ww.load(loans / "model.json")
    assert "visit" in model.tree_.tests_used()
    answers = loans / "answers.csv"
    run(capsys, "predict", loans / "model.json", loans / "new.csv", "--case-price", "visit=distance", "-o", answers)
    rows = read_rows(answers)
    assert max(float(row["price_paid"]) for row in rows) <= 4
    assert {row["tests_used"] for row in rows if float(row["distance"]) > 3} == {"income"}


def test_compare_and_a_report_take_them_too(capsys, loans):
    known = "--target", "paid", "--costs", loans / "loans.toml"
    code, _, err = run(
        capsys, "compare", loans / "loans.csv", *known, *BY_CASE, "--learners", "dtmc,c45", "--folds", "3",
        "--jobs", "1", "-o", loans / "found",
    )  # fmt: skip
    assert (code, err) == (0, "")
    everything = next(row for row in read_rows(loans / "found" / "costs.csv") if row["learner"].startswith("all tests"))
    assert float(everything["test_cost"]) == pytest.approx(tables(loan_rows())[2].sum(axis=1).mean())
    code, _, err = run(
        capsys, "learn", loans / "loans.csv", *known, *BY_CASE, "--learner", "dtmc", "--report", loans / "report.html",
        "-o", loans / "model.json",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "answer_costs" in (loans / "report.html").read_text()


def test_a_learner_answers_by_cost_where_columns_have_costs(capsys, loans):
    known = "--target", "paid", "--learner", "eg2", "--case-error", "good=amount"
    run(capsys, "learn", loans / "loans.csv", *known, "-o", loans / "model.json", "-q")
    assert ww.load(loans / "model.json").answer == "least-cost"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--case-price", "visit"], "--case-price visit: must be TEST=COLUMN"),
        (["--case-error", "=amount"], "--case-error =amount: must be ANSWER=COLUMN"),
        (
            ["--case-price", "visit=amont"],
            "loans.csv: no column 'amont', given by --case-price; did you mean 'amount'?",
        ),
        (["--case-price", "vist=amount"], "--case-price vist=amount: there is no test 'vist'; did you mean 'visit'?"),
        (["--case-error", "godo=amount"], "--case-error godo=amount: there is no answer 'godo'; did you mean 'good'?"),
        (["--case-error", "good=paid"], "--case-error: 'paid' is the target column"),
        (["--case-price", "visit=visit"], "there is no test 'visit'; valid: 'income'"),
        (["--case-price", "visit=amount", "--case-price", "visit=income"], "two columns for 'visit'"),
        (["--case-price", "visit=income"], "column 'income' has"),
    ],
)
def test_wrong_columns_are_refused(capsys, loans, options, message):
    known = loans / "loans.csv", "--target", "paid", "-o", loans / "m.json"
    assert message in fails(capsys, "learn", *known, *options)


def test_amounts_that_are_missing_or_no_numbers_are_named_by_file_column_and_row(capsys, tmp_path):
    for value, message in (
        ("", "d.csv, line 4: column 'cost' has no amount"),
        ("-3", "d.csv, line 4: column 'cost' has -3; a price is at least 0"),
        ("cheap", "cost"),
    ):
        rows = [[i % 3, 5, "ab"[i % 2]] for i in range(12)]
        rows[2][1] = value
        write_table(tmp_path / "d.csv", ["x", "cost", "class"], rows)
        known = "--target", "class", "--case-price", "x=cost", "-o", tmp_path / "m.json"
        assert message in fails(capsys, "learn", tmp_path / "d.csv", *known)


def test_columns_are_parsed():
    assert CaseColumns.parse(None, None).columns == []
    assert CaseColumns.parse(["a=x"], ["b=x", "c=y"]).columns == ["x", "y"]
