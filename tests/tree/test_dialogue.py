"""The dialogue in the terminal, without a terminal."""

import io
import re

import pandas as pd
import pytest
from rich.console import Console
from rich.table import Table

import worthwhile as ww
from handmade import small, tree, turney
from report_trees import surcharged
from worthwhile.tree.dialogue import Dialogue, read_known, read_value, run_dialogue

HELP = "Type the value, or: u (unavailable), undo, why, quit."


def converse(model, *lines, known=None, end=EOFError, currency=""):
    """Run a dialogue with these lines; return the result, and everything shown or asked as one string."""
    page = io.StringIO()
    console = Console(file=page, width=200, color_system=None)
    lines = iter(lines)

    def ask(prompt):
        try:
            line = next(lines)
        except StopIteration:
            raise end from None
        page.write(f"{prompt}{line}\n")
        return line

    result = run_dialogue(model, known or {}, ask, lambda x: console.print(x, markup=False, highlight=False), currency)
    return result, page.getvalue()


def test_a_dialogue_from_the_beginning_to_the_ledger():
    result, page = converse(tree(turney()), "6", "3", "2", "", currency="CAD")
    assert (result.ended, result.outcome.answer, result.outcome.spent) == ("answered", 0, 30)
    assert result.known == {"alpha": 6, "delta": "3", "epsilon": 2}
    assert page.splitlines()[:12] == [
        HELP,
        "",
        "Next: alpha for 5.00 (0.00 spent so far).",
        "The tree asks for this test here; expected costs are unknown because the tree has no training weights.",
        "alpha (a number): 6",
        "",
        "Next: delta for 25.00 (5.00 spent so far).",
        "Its result is delayed, so beta and epsilon must be ordered with it.",
        "The order: delta 7.00, beta 10.00, epsilon 8.00.",
        "The tree asks for this test here; expected costs are unknown because the tree has no training weights.",
        "delta (0, 1, 2, 3, 4, 5, 6, 7, 8, 9): 3",
        "",
    ]
    assert "Next: epsilon at no extra cost (30.00 spent so far)." in page
    assert "Answer: 0 (0 100%, 1 0%), 30.00 spent." in page
    ledger = page[page.index("Ledger (CAD): answer 0") :]
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in ledger.splitlines() if "│" in line]
    assert cells == [
        ["alpha", "6", "5.00", "5.00", ""],
        ["delta", "3", "7.00", "12.00", ""],
        ["beta", "not asked for", "10.00", "22.00", "ordered with delta"],
        ["epsilon", "2", "8.00", "30.00", ""],
        ["Total", "", "30.00", "", ""],
    ]


def test_what_others_have_paid_for():
    dialogue = Dialogue(tree(turney()), {"alpha": 6}, ["alpha"])
    assert dialogue.advice_lines()[0] == "Next: delta for 25.00 (0.00 spent so far)."
    assert [(line.test, line.price, dialogue._note(line)) for line in dialogue.ledger] == [("alpha", 0, "already paid")]


def test_why():
    _, page = converse(tree(small()), "why", "1", "WHY", "-1", "why")
    assert "Class probabilities so far: no 50%, yes 50%." in page
    assert "Stop and answer yes: 5.00 expected in errors." in page
    assert "Go on: 6.20 expected in errors and tests not yet paid for." in page
    assert "1.20 more. The tree was learned by other figures" in page
    assert "Going on is better by 1.33." in page
    assert page.count("The tree asks for no further test here; answering yes is expected to cost 0.00 in errors.") == 2


def test_undo_goes_back_one_test_at_a_time_also_from_the_answer():
    result, page = converse(tree(small()), "undo", "1", "-1", "undo", "undo", "undo", "0", "")
    assert page.count("There is nothing to undo.") == 2
    assert "The value of y is removed." in page
    assert "The value of x is removed." in page
    assert result.known == {"x": 0}
    assert [(line.test, line.price, line.spent) for line in result.ledger] == [("x", 1, 1)]
    assert result.outcome.answer == "no"


def test_what_was_known_from_the_start_is_not_undone():
    result, page = converse(tree(small()), "undo", "quit", known={"x": 1})
    assert "There is nothing to undo." in page
    assert result.known == {"x": 1}
    assert "known from the start" in page
    assert (result.ended, result.outcome) == ("quit", None)
    assert "Ledger, no answer yet" in page


@pytest.mark.parametrize("word", ["u", "U", "unavailable", " Unavailable ", ":u"])
def test_unavailable_tests(word):
    result, page = converse(tree(small()), word, "why", "1", "")
    assert result.known == {"x": None, "y": 1}
    assert "Unavailable: x." in page
    assert "unavailable" in page[page.index("Ledger") :]
    assert result.outcome.spent == 2


def test_an_order_without_a_result_is_refunded():
    result, page = converse(tree(turney()), "6", "2", "u", "")
    assert [(line.test, line.price, line.spent) for line in result.ledger] == [
        ("alpha", 5, 5),
        ("delta", 7, 12),
        ("epsilon", 8, 20),
        ("beta", 0, 20),
    ]
    assert "25.00" in page


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("high", "'high' is not a number; x needs a number, e.g. 36.6. If it is unavailable, type u."),
        ("", "the value is empty; x needs a number, e.g. 36.6. If it is unavailable, type u."),
        ("nan", "'nan' is not a number"),
        ("1e999", "'1e999' is not a number"),
        ("[bold]1", "'[bold]1' is not a number"),
        ("?", HELP),
        ("help", HELP),
    ],
)
def test_invalid_lines_get_a_hint_and_another_try(said, hint):
    result, page = converse(tree(small()), said, "0", "")
    assert hint in page
    assert result.known == {"x": 0}
    assert page.count("Next: x") == 1  # the advice is the same and not shown again


def test_values_in_any_case_and_close_ones():
    heart = ww.datasets.load("heart")
    clf = ww.EG2Classifier(costs=heart.costs, prune="cost", nominal=heart.nominal, columns=heart.feature_names)
    clf.fit(heart.X, heart.y)
    result, page = converse(clf, "notag", "NOTANG", "divers", "Fem")
    words = (
        "did you mean 'notang'? Its values are 'abnang', 'angina', 'asympt', 'notang'. If it is unavailable, type u."
    )
    assert f"'notag' is not a value of cp; {words}" in page
    assert "'divers' is not a value of sex; valid: 'fem', 'male'. If it is unavailable, type u." in page
    assert result.known == {"cp": "notang", "sex": "fem"}
    assert (result.ended, result.outcome.answer, result.outcome.spent) == ("answered", "buff", 2)


def test_a_value_that_is_a_command_is_a_value():
    columns = [{"name": "x", "kind": "nominal", "values": ["U", "quit", "undo"]}, {"name": "y", "kind": "numeric"}]
    nodes = [{"test": "x", "branches": [["U"], ["quit", "undo"]], "children": [1, 2]}, {"answer": "no"}]
    known = tree(small(columns=columns, nodes=[*nodes, {"answer": "yes"}]))
    assert converse(known, "u", "")[0].known == {"x": "U"}
    assert converse(known, "quit", "")[0].known == {"x": "quit"}
    assert converse(known, ":quit")[0].ended == "quit"
    assert converse(known, ":u", "")[0].known == {"x": None}


@pytest.mark.parametrize(("end", "ended"), [(EOFError, "quit"), (KeyboardInterrupt, "interrupted")])
def test_the_end_of_the_input_and_ctrl_c_end_it_with_the_ledger(end, ended):
    result, page = converse(tree(small()), "1", end=end)
    assert (result.ended, result.outcome, result.known) == (ended, None, {"x": 1})
    assert "Ledger, no answer yet" in page
    nothing, page = converse(tree(small()), end=end)
    assert nothing.ledger == ()
    assert "Ledger" not in page


def test_a_case_that_needs_no_test():
    result, page = converse(tree(small(nodes=[{"answer": "no"}])))
    assert (result.ended, result.outcome.answer) == ("answered", "no")
    assert "Answer: no" in page


def test_a_dialogue_with_a_forest():
    X, y = [[i] for i in range(30)], [0] * 15 + [1] * 15
    clf = ww.BudgetForestClassifier(
        variant="paper", costs=ww.Costs(tests={"x0": 3.0}), max_trees=3, random_state=0
    ).fit(X, y)
    result, page = converse(clf, "20", "")
    assert "Tree 1 of 3 asks for it" in page
    assert (result.outcome.answer, result.outcome.spent) == (clf.predict([[20]])[0], 3)


def test_many_values_are_not_listed():
    values = [str(v) for v in range(30)]
    columns = [{"name": "x", "kind": "nominal", "values": values}, {"name": "y", "kind": "numeric"}]
    nodes = [{"test": "x", "branches": [values], "children": [1]}, {"answer": "no"}]
    dialogue = Dialogue(tree(small(columns=columns, nodes=nodes)), {})
    assert dialogue.prompt() == "x (one of 30 values): "
    assert isinstance(dialogue.table(), Table)


def test_strings_become_values():
    known = tree(turney())
    assert read_known(known, {"alpha": " 6.5", "delta": "3.0", "beta": "U"}) == {
        "alpha": 6.5,
        "delta": "3",
        "beta": None,
    }
    with pytest.raises(ValueError, match="there is no test 'gamma'; valid: 'alpha', 'beta'"):
        read_known(known, {"gamma": "1"})
    with pytest.raises(ValueError, match="'eleven' is not a value of delta; valid: '0', '1'"):
        read_known(known, {"delta": "eleven"})
    with pytest.raises(ValueError, match="'x' is not a number; alpha needs a number"):
        read_known(known, {"alpha": "x"})


def test_values_that_differ_in_case_only_must_be_exact():
    columns = [{"name": "x", "kind": "nominal", "values": ["ab", "AB"]}, {"name": "y", "kind": "numeric"}]
    known = tree(small(columns=columns, nodes=[{"answer": "no"}]))
    assert read_value(known, "x", "ab") == "ab"
    assert read_value(known, "x", "AB") == "AB"
    with pytest.raises(ValueError, match="'Ab' is not a value of x"):
        read_value(known, "x", "Ab")


def test_dates_and_decimal_commas_may_be_typed():
    X = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40), "x": [i % 4 + 0.5 for i in range(40)]})
    clf = ww.C45Classifier(prune="none").fit(X, ["a" if i < 20 else "b" if i % 4 > 1 else "c" for i in range(40)])
    prompts = []
    lines = iter(["soon", "1.470,00", "1470", "3/4/2024", "25.01.2024", "1,234", "3,5", ""])

    def ask(prompt):
        prompts.append(prompt)
        return next(lines)

    shown = []
    result = run_dialogue(clf, {}, ask, shown.append)
    assert result.outcome.answer == "b"
    assert prompts[0] == "day (a date, e.g. 2024-03-31): "
    assert result.known == {"day": 19747.0, "x": 3.5}
    for text in ("soon", "1.470,00", "1470", "3/4/2024"):
        needs = "day needs a date, e.g. 2024-03-31. If it is unavailable, type u."
        assert f"{text!r} is not a date; {needs}" in shown
    assert (
        "'1,234' may mean thousands; type x without a mark for thousands, e.g. 1234. If it is unavailable, type u."
        in shown
    )


def test_numbers_that_may_mean_thousands_are_never_misread():
    clf = ww.C45Classifier(prune="none", min_cases=1).fit([[1.0], [2000.0]] * 4, ["a", "b"] * 4)
    for decimal, text, value in [
        (".", "1.234", 1.234),
        (".", "13,2", 13.2),
        (".", "-0,5", -0.5),
        (".", "1234", 1234.0),
        (".", "1e3", 1000.0),
        (",", "1,234", 1.234),
        (",", "1.234,5", 1234.5),
        (",", "-1.234.567,25", -1234567.25),
        (",", "12.5", 12.5),
        (",", "1234,5", 1234.5),
    ]:
        clf._set_origin(None, decimal)
        assert read_value(clf, "x0", text) == value
    for decimal, text, advice in [
        (".", "1,234", "1234"),
        (".", "1,234.5", "1234.5"),
        (".", "1.234,5", "1234.5"),
        (".", "1.234.567", "1234567"),
        (",", "1.234", "1234"),
        (",", "1,234.5", "1234,5"),
        (",", "1.234.567", "1234567"),
    ]:
        clf._set_origin(None, decimal)
        words = f"'{text}' may mean thousands; type x0 without a mark for thousands, e.g. {advice}."
        with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
            read_value(clf, "x0", text)
    for text in ("1 234", "1'234", "1,2,3", "2024-03-31", "1.2.3"):
        with pytest.raises(ValueError, match=r"is not a number; x0 needs a number, e\.g\. 36,6"):
            read_value(clf, "x0", text)


def test_an_order_with_its_parts_and_the_ledger_with_waits_and_surcharges():
    result, page = converse(tree(surcharged()), "no", "6", "reaction", "")
    assert "Next: lab for 130.35 (8.00 spent so far)." in page
    assert "Waiting for one result after another would cost more, so dye is ordered with it." in page
    assert (
        "The order: lab 63.10 (age < 1: 20.00; lab >= 5: 3.00; wait 24: 30.00), "
        "dye 66.25 (reaction and class sick: 56.25 of 300.00), age 1.00." in page
    )
    ledger = page[page.index("Ledger") :]
    assert re.search(r"lab .*63.10 .* age < 1: 20.00; lab >= 5: 3.00; wait 24: 30.00", ledger)
    assert re.search(r"age .*1.00 .* ordered with lab", ledger)
    assert re.search(r"dye .*310.00 .* reaction and class sick: 300.00", ledger)
    assert result.outcome.spent == pytest.approx(382.1)


def test_what_the_price_of_a_test_alone_includes():
    page = converse(tree(surcharged()), "yes")[1]
    assert "The price includes class sick: 27.03 of 50.00 and wait 2: 1.00." in page
