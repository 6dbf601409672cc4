"""What `worthwhile costs check` finds in a price list that contradicts itself or the data."""

import pytest

from command_line import run_joined as run
from command_line import write

ROWS = (
    "age,sex,dye,stress,empty,class\n" + "40,f,none,1,,sick\n30,m,mild,2,,well\n20,m,none,3,,sick\n10,f,none,3,,well\n"
)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (
            "age = { price = 5, surcharges = [{ amount = 1, where = { sex = 'x' } }] }",
            "a surcharge of test 'age' can never apply: no case has sex = x; "
            "its values are 'f', 'm': correct or remove the condition",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, result = '< 1' }] }",
            "a surcharge of test 'age' can never apply: no case has age < 1; "
            "its values are from 10 to 40: correct or remove the condition",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, truth = 'ill' }] }",
            "a surcharge of test 'age' can never apply: no case has the class 'ill'; the classes are 'sick', 'well'",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, where = { sex = 'f', dye = 'mild' } }] }",
            "a surcharge of test 'age' can never apply: no case meets its conditions together "
            "(sex = f and dye = mild); remove one of them",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, truth = 'sick', where = { dye = 'mild' } }] }",
            "a surcharge of test 'age' can never apply: no case meets its conditions together "
            "(dye = mild and class sick); remove one of them",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, where = { empty = 'x' } }] }",
            "a surcharge of test 'age' can never apply: column 'empty' is always missing; "
            "remove the condition, or fill in the column",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, where = { sex = '< 1' } }] }",
            "a surcharge of test 'age' can never apply: column 'sex' is nominal and cannot be < 1; "
            "name its values instead",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, after = ['dye'] }] }\n"
            "dye = { price = 1, requires = ['age'] }",
            "a surcharge of test 'age' can never apply: it is charged after 'dye', which requires 'age'; "
            "remove 'dye' from after",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 1, after_any = ['dye', 'stress'] }] }\n"
            "dye = { price = 1, requires = ['age'] }\nstress = { price = 1, requires = ['dye'] }",
            "a surcharge of test 'age' can never apply: it is charged after one of 'dye', 'stress', and "
            "each requires 'age'; name other tests in after_any",
        ),
        (
            "age = { price = 5, requires = ['dye'], surcharges = [{ amount = 1, after_any = ['sex', 'dye'] }] }",
            "a surcharge of test 'age' always applies: 'age' requires 'dye'; add it to the price",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 0, truth = 'sick' }] }",
            "a surcharge of test 'age' (class sick) adds nothing; give it an amount, or remove it",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = 2, truth = 'sick' }, { amount = 2, truth = 'sick' }] }",
            "a surcharge of test 'age' (class sick) is there twice; remove one of them, unless both are charged",
        ),
        (
            "age = { price = 5, requires = ['dye'], surcharges = [{ amount = 1, after = ['dye'] }] }",
            "a surcharge of test 'age' always applies: 'age' requires 'dye'; add it to the price",
        ),
        (
            "age = { price = 5, surcharges = [{ amount = -5, where = { sex = 'f' } }] }",
            "test 'age' costs 5, and its discounts can make it free; lower the discounts, or raise the price",
        ),
        (
            "age = { price = 5, group = 'visit' }\n[groups]\nvisit = 1",
            "group 'visit' has one test, 'age': add the common price to the price of the test, "
            "or give other tests the group",
        ),
        (
            "age = { price = 5, wait = 2 }",
            "test 'age' has a wait, but waiting costs nothing; set waiting, or remove wait",
        ),
    ],
)
@pytest.mark.usefixtures("good_files")
def test_check_finds_contradictions(capsys, text, warning):
    write("rows.csv", ROWS)
    write("odd.toml", f"errors = 50\n[tests]\nsex = 1\n{text}\n")
    code, _, err = run(capsys, "costs", "check", "odd.toml", "rows.csv", "--target", "class")
    assert (code, err) == (0, f"worthwhile: odd.toml: {warning}\n")


@pytest.mark.usefixtures("good_files")
def test_check_finds_contradictions_without_data(capsys):
    write("odd.toml", "errors = 50\nwaiting = 2.5\n[tests]\nage = 1\n")
    warning = "waiting has a price, but no test has a wait; give tests a wait, or remove waiting"
    assert run(capsys, "costs", "check", "odd.toml")[2] == f"worthwhile: odd.toml: {warning}\n"
    write("odd.toml", "errors = 50\nwaiting = 2.5\n[tests]\nage = { price = 1, wait = 1, delayed = true }\n")
    said = run(capsys, "costs", "check", "odd.toml")[2]
    assert "test 'age' has a wait and is delayed" in said
    write("odd.toml", "errors = 50\n[tests]\nage = { price = 1, wait = 1 }\nsex = { price = 1, wait = 1 }\n")
    assert "tests 'age', 'sex' have a wait, but" in run(capsys, "costs", "check", "odd.toml")[2]


@pytest.mark.usefixtures("good_files")
def test_check_finds_nothing_in_a_list_with_every_feature(capsys):
    write("rows.csv", ROWS)
    write(
        "good.toml",
        """errors = 50
waiting = 2.5
[tests]
sex = 1
age = { price = 5, group = ["visit", "panel"], wait = 2, surcharges = [{ amount = 1, where = { sex = "f" } }] }
dye = { price = 5, group = ["visit", "panel"], surcharges = [{ amount = 1, result = "mild", truth = "well" }] }
stress = { price = 5, surcharges = [{ amount = 9, truth = "sick" }, { amount = -4, after = ["dye"] }] }
[groups]
visit = 1
panel = 2
""",
    )
    assert run(capsys, "costs", "check", "good.toml", "rows.csv", "--target", "class")[::2] == (0, "")
    assert run(capsys, "costs", "check", "good.toml", "rows.csv")[::2] == (0, "")
