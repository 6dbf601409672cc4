"""Limits below the cheapest test, and price lists without prices, are pointed out."""

import pytest

from command_line import COSTS, run, write
from worthwhile import cli

LEARN = ["learn", "good.csv", "--target", "class", "-o", "new.json"]


@pytest.mark.usefixtures("good_files")
def test_a_cap_below_the_cheapest_test(capsys):
    known = [*LEARN, "--learner", "dtmc", "--cap", "0.5"]
    code, _, err = run(capsys, *known, "--costs", "costs.toml")
    assert (code, err) == (
        0,
        "worthwhile: --cap 0.5 forbids every test that has a price: the cheapest test with a price, age, costs 1.00;"
        " only free tests can be done: 'pain'\n",
    )
    write("c.toml", '[about]\ncurrency = "EUR"\n' + COSTS.replace("[tests]", "[tests]\npain = 2.0"))
    code, _, err = run(capsys, *known, "--costs", "c.toml")
    assert code == 0
    assert err.endswith("a price, age, costs 1.00 EUR; no test can be done\n")
    compared = ["compare", *LEARN[1:-1], "folder", "--learners", "dtmc,c45", "--folds", "2", "--cap", "0.5"]
    assert "--cap 0.5 forbids every test" in run(capsys, *compared, "--costs", "c.toml")[2]
    assert run(capsys, *known, "-q", "--costs", "c.toml")[2] == ""


@pytest.mark.usefixtures("good_files")
def test_a_cap_that_a_test_fits_in(capsys):
    for cap in ("1", "5.5"):
        assert run(capsys, *LEARN, "--learner", "dtmc", "--cap", cap, "--costs", "costs.toml")[2] == ""
    # With a discount the test may cost less than the cap.
    cheaper = "age = { price = 1.0, surcharges = [{ amount = -0.8, after = ['pain'] }] }"
    write("c.toml", COSTS.replace("age = 1.0", cheaper))
    assert run(capsys, *LEARN, "--learner", "dtmc", "--cap", "0.5", "--costs", "c.toml")[2] == ""


@pytest.mark.usefixtures("good_files")
def test_a_budget_below_the_cheapest_test(capsys):
    known = [*LEARN, "--learner", "budget-forest", "--set", "max_trees=2", "--budget", "0.5"]
    assert "--budget" not in run(capsys, *known, "--costs", "costs.toml")[2]  # free tests come first
    write("c.toml", COSTS.replace("[tests]", "[tests]\npain = 2.0"))
    assert run(capsys, *known, "--costs", "c.toml")[2].startswith(
        "worthwhile: --budget 0.5 is too small for any test: the cheapest test with a price, age, costs 1.00, and all"
        " cases start with a test\n"
    )


@pytest.mark.usefixtures("good_files")
def test_a_price_list_without_prices(capsys):
    known = [*LEARN, "--learner", "dtmc"]
    free = "worthwhile: the price list has no price above 0 for any test of the table: all tests are free\n"
    assert run(capsys, *known, "--costs", write("c.toml", "errors = 50\n"))[2] == free
    assert run(capsys, *known, "--costs", write("c.toml", "errors = 50\n[tests]\nage = 0\n"))[2] == free
    assert run(capsys, *known)[2] == ""


@pytest.mark.usefixtures("good_files")
def test_a_price_list_of_another_table(capsys):
    write("c.toml", "[tests]\nwind = 1.0\nsnow = 5.0\n[errors.sick]\nwell = 100\n[errors.well]\nsick = 50\n")
    code, _, err = run(capsys, *LEARN, "--costs", "c.toml")
    assert code == 2
    assert err == (
        "worthwhile: c.toml: the costs contain tests that are not columns: 'wind' (priced; valid: 'age', 'pain',"
        " 'chol'), 'snow' (priced; valid: 'age', 'pain', 'chol'); is it the price list of another table?\n"
    )
    assert cli.run(["costs", "check", "c.toml", "good.csv", "--target", "class"]) == 2
    assert "is it the price list of another table?" in capsys.readouterr().err
    known = [*LEARN, "--learner", "dtmc", "--costs", "c.toml", "--ignore-extra-prices"]
    code, _, err = run(capsys, *known)
    assert code == 0
    assert "no price above 0 for any test of the table: all tests are free" in err


@pytest.mark.usefixtures("good_files")
def test_errors_that_cost_nothing_or_pay(capsys):
    known = [*LEARN, "--learner", "dtmc"]
    prices = "[tests]\nage = 1\n"
    nothing = "worthwhile: all answers cost 0, right or wrong: no test can be worth a price\n"
    assert run(capsys, *known, "--costs", write("c.toml", f"errors = 0\n{prices}"))[2] == nothing
    err = run(capsys, *known, "--costs", write("c.toml", f"errors = -5\n{prices}"))[2]
    assert err.startswith(
        "worthwhile: a case of sick costs 0.00 if it is answered right, but -5.00 if it is answered well; is this"
    )
    compared = ["compare", *LEARN[1:-1], "folder", "--learners", "dtmc,c45", "--folds", "2"]
    assert "is this meant?" in run(capsys, *compared, "--costs", "c.toml")[2]
