"""Costs in files: round trips, the documented example, Turney's files, mistakes reported with file and line."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worthwhile.costs import files as cost_files
from worthwhile.costs.costs import Costs, Test
from worthwhile.costs.error_costs import MAX_AMOUNT, MIN_AMOUNT
from worthwhile.costs.surcharges import Surcharge

DOCS = Path(__file__).parents[2] / "docs"
HEADER = "kind,name,price,group,delayed,requires,answer\n"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refusal(path: Path) -> str:
    """Return the message of the error that reading a file raises."""
    with pytest.raises(ValueError, match="^" + re.escape(str(path.parent))) as caught:
        Costs.read(path)
    return str(caught.value)


# --- round trips ----------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
csv_texts = texts.filter(lambda text: text == text.strip() and text != "*" and not set(text) & set(";|<>="))
prices = st.just(0.0) | st.floats(MIN_AMOUNT, MAX_AMOUNT)
money = prices | prices.map(lambda price: -price)


numbers = st.integers(-9, 9) | st.floats(-9, 9).filter(lambda number: number == 0 or abs(number) > 1e-3)
comparisons = st.builds(lambda sign, number: f"{sign} {number}", st.sampled_from(["<", "<=", ">", ">="]), numbers)


@st.composite
def some_surcharges(draw: st.DrawFn, names: st.SearchStrategy[str], others: list[str], truths: list[str]) -> list:
    """Draw surcharges of a test that the other tests come before; none is a discount, which a price has to allow."""
    values = names | numbers | st.booleans()
    conditions = values | st.lists(values, min_size=1, max_size=3) | comparisons
    found = []
    for _ in range(draw(st.integers(0, 2))):
        parts = {
            "truth": draw(st.none() | st.sampled_from(truths)),
            "result": draw(st.none() | conditions),
            "where": draw(st.dictionaries(st.sampled_from(others), conditions, max_size=2)) if others else {},
            "after": draw(st.lists(st.sampled_from(others), unique=True)) if others else [],
        }
        if any(part not in (None, {}, []) for part in parts.values()):
            found.append(Surcharge(draw(prices), **parts))
    return found


@st.composite
def some_costs(draw: st.DrawFn, names: st.SearchStrategy[str] = texts) -> Costs:
    """Draw costs with every feature of the price list."""
    tests = draw(st.lists(names, unique=True, max_size=5))
    group_names = draw(st.lists(names, unique=True, max_size=3))
    classes = draw(st.lists(names, unique=True, min_size=1, max_size=4))
    rows = draw(st.integers(1, len(classes)))
    described = {}
    for i, name in enumerate(tests):
        groups = draw(st.lists(st.sampled_from(group_names), unique=True)) if group_names else []
        requires = draw(st.lists(st.sampled_from(tests[:i]), unique=True)) if i else []
        surcharges = draw(some_surcharges(names, tests[:i], classes[:rows]))
        described[name] = Test(draw(prices), groups, draw(st.booleans()), requires, draw(prices), surcharges)
    used = {group for test in described.values() for group in test.groups}
    groups = {name: draw(prices) for name in group_names if name in used}
    times = draw(st.lists(st.floats(1e-3, 1e3), unique=True, max_size=3).map(sorted))
    curve = [(0, 0), *zip(times, sorted(draw(prices) for _ in times), strict=True)]
    waiting = draw(st.none() | prices | st.just(curve if times else None))
    matrix = [[draw(money) for _ in classes] for _ in range(rows)]
    about = draw(st.dictionaries(names, st.text(st.characters(exclude_categories=["Cs"])), max_size=2))
    if draw(st.booleans()):
        return Costs(described, groups, errors=draw(money), about=about, waiting=waiting)
    return Costs(described, groups, errors=matrix, classes=classes, about=about, waiting=waiting)


def check_round_trip(costs: Costs, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"costs{suffix}"
        costs.write(path)
        again = Costs.read(path)
        assert again == costs
        assert list(again.tests) == list(costs.tests)
        assert os.listdir(folder) == [path.name]
        first = path.read_bytes()
        again.write(path)
        assert suffix == ".xlsx" or path.read_bytes() == first  # an Excel file has the time in it


@settings(deadline=None)
@given(some_costs())
def test_toml_round_trip(costs: Costs) -> None:
    check_round_trip(costs, ".toml")


@pytest.mark.filterwarnings("ignore:.*is a formula for spreadsheet programs")
@settings(deadline=None)
@given(some_costs(csv_texts))
def test_csv_round_trip(costs: Costs) -> None:
    check_round_trip(costs, ".csv")


@pytest.mark.parametrize("suffix", [".toml", ".csv", ".TOML", ".Csv"])
@pytest.mark.parametrize(
    "costs",
    [
        Costs(),
        Costs(errors={"a": {}}),
        Costs(errors={"a": {"a": -0.0}}),
        Costs(errors={1: {2: 5, "?": 1}, 2: {1: -3, 2: 1.5, "?": 1}}),
        Costs(errors={0.0: {1.0: 5}, 1.0: {0.0: 2}}),
        Costs(errors={False: {True: 5}, True: {False: 2}}),
        Costs(
            tests={"a.b": 1e-100, "c d": 1e100, 'q"\\': 5, "tab\there": 5, "é=#[]": 0},
            about={"title": 'two\nlines, "x"'},
        ),
        Costs(tests={"a": Test(1, surcharges=[Surcharge(1, where={"b": "two\nlines"})]), "b": 1}),
    ],
)
def test_round_trip_of_odd_costs(costs: Costs, suffix: str) -> None:
    check_round_trip(costs, suffix)


@pytest.mark.parametrize(
    "costs",
    [
        Costs(tests={" a": 1}),
        Costs(tests={"*": 1}),
        Costs(tests={"a": Test(1, requires=("b;c",))}),
        Costs(tests={"a": Test(1, group="g ")}, groups={"g ": 1}),
        Costs(errors={"*": {"a": 1}, "a": {"*": 1}}),
        Costs(about={"\t": "x"}),
        Costs(tests={"a": Test(1, group=("g;", "h"))}, groups={"g;": 1, "h": 1}),
        Costs(tests={"a": Test(1, surcharges=[Surcharge(1, where={"b<c": 1})])}),
        Costs(tests={"a": Test(1, surcharges=[Surcharge(1, where={"b": ["x|y"]})])}),
        Costs(tests={"a": Test(1, surcharges=[Surcharge(1, result="x;y")])}),
        Costs(tests={"a": Test(1, surcharges=[Surcharge(1, truth=" sick")])}),
        Costs(tests={"a": Test(1, surcharges=[Surcharge(1, after=["b;c"])])}),
    ],
)
def test_names_that_csv_cannot_contain_are_refused_but_work_in_toml(costs: Costs, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"(?s)costs.csv: CSV cannot contain the name.*write a \.toml file"):
        costs.write(tmp_path / "costs.csv")
    assert list(tmp_path.iterdir()) == []
    check_round_trip(costs, ".toml")


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (Costs(tests={"a": Test(1, surcharges=[Surcharge(1, result=["< 1"])])}), "the value '< 1', a comparison there"),
        (
            Costs(tests={"a": Test(1, "g;h"), "b": Test(1, ("g", "h"))}, groups={"g;h": 1, "g": 1, "h": 1}),
            "a group 'g;h' besides the groups it names",
        ),
    ],
)
def test_what_csv_would_read_otherwise_is_refused_but_works_in_toml(costs: Costs, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(f"CSV cannot contain {words}; write a .toml file")):
        costs.write(tmp_path / "costs.csv")
    check_round_trip(costs, ".toml")


def test_a_value_that_only_looks_like_a_comparison(tmp_path: Path) -> None:
    rich = Costs(tests={"a": Test(1, surcharges=[Surcharge(1, result=">50K", where={"b": ">50K"})])})
    check_round_trip(rich, ".csv")


def test_a_group_with_a_semicolon_in_its_name_is_one_group() -> None:
    check_round_trip(Costs(tests={"a": Test(1, "g;h")}, groups={"g;h": 1}), ".csv")


# One price list with every feature, as each format has it.
EVERY = Costs(
    tests={
        "age": 0,
        "ecg": Test(20.0, delayed=True),
        "dye": Test(30.0, surcharges=[Surcharge(300, result=["mild", "severe"]), Surcharge(5, result=">= 2")]),
        "stress": Test(
            100.0,
            group=("treadmill", "visit"),
            surcharges=[
                Surcharge(500, truth="sick"),
                Surcharge(20, where={"age": "< 1", "dye": "mild"}),
                Surcharge(-5, after=["ecg", "dye"]),
            ],
        ),
        "chol": Test(5.17, group="visit", wait=24),
    },
    groups={"treadmill": 2, "visit": 20},
    errors={"sick": {"buff": 500}, "buff": {"sick": 100}},
    waiting=[(0, 0), (24, 10), (72, 200)],
)
EVERY_TOML = """waiting = [[0.0, 0.0], [24.0, 10.0], [72.0, 200.0]]

[tests]
age = 0.0
ecg = { price = 20.0, delayed = true }
dye = { price = 30.0, surcharges = [{ amount = 300.0, result = ["mild", "severe"] }, \
{ amount = 5.0, result = ">= 2" }] }
stress = { price = 100.0, group = ["treadmill", "visit"], surcharges = [{ amount = 500.0, truth = "sick" }, \
{ amount = 20.0, where = { age = "< 1", dye = "mild" } }, { amount = -5.0, after = ["ecg", "dye"] }] }
chol = { price = 5.17, group = "visit", wait = 24.0 }

[groups]
treadmill = 2.0
visit = 20.0

[errors.sick]
buff = 500.0

[errors.buff]
sick = 100.0
""".replace("\\\n", "")
EVERY_CSV = """kind,name,price,group,delayed,requires,answer,wait,truth,result,where,after
test,age,0.0,,no,,,,,,,
test,ecg,20.0,,yes,,,,,,,
test,dye,30.0,,no,,,,,,,
test,stress,100.0,treadmill;visit,no,,,,,,,
test,chol,5.17,visit,no,,,24.0,,,,
group,treadmill,2.0,,,,,,,,,
group,visit,20.0,,,,,,,,,
surcharge,dye,300.0,,,,,,,mild | severe,,
surcharge,dye,5.0,,,,,,,>= 2.0,,
surcharge,stress,500.0,,,,,,sick,,,
surcharge,stress,20.0,,,,,,,,age < 1.0; dye = mild,
surcharge,stress,-5.0,,,,,,,,,ecg;dye
waiting,24.0,10.0,,,,,,,,,
waiting,72.0,200.0,,,,,,,,,
error,sick,0.0,,,,sick,,,,,
error,sick,500.0,,,,buff,,,,,
error,buff,100.0,,,,sick,,,,,
error,buff,0.0,,,,buff,,,,,
"""


@pytest.mark.parametrize(("suffix", "text"), [(".toml", EVERY_TOML), (".csv", EVERY_CSV)])
def test_every_feature_is_written_to_be_read(suffix: str, text: str, tmp_path: Path) -> None:
    EVERY.write(tmp_path / f"costs{suffix}")
    assert (tmp_path / f"costs{suffix}").read_text() == text
    assert Costs.read(tmp_path / f"costs{suffix}") == EVERY


def test_every_feature_in_excel() -> None:
    check_round_trip(EVERY, ".xlsx")


def test_every_feature_in_a_list_of_a_spreadsheet_with_decimal_commas(tmp_path: Path) -> None:
    rows = EVERY_CSV.replace(";", "&").replace(",", ";").splitlines()
    text = "\n".join(re.sub(r"(\d)\.(\d)", r"\1,\2", row) for row in rows)
    text = text.replace("ecg&dye", '"ecg, dye"').replace("treadmill&visit", '"treadmill; visit"')
    assert (
        Costs.read(
            put(tmp_path, "costs.csv", text.replace("age < 1,0& dye", '"age < 1,0; dye').replace("= mild;", '= mild";'))
        )
        == EVERY
    )


def test_points_of_waiting_may_be_in_any_order_and_one_is_a_price_per_time(tmp_path: Path) -> None:
    text = HEADER + "waiting,72,200,,,,\nwaiting,0,0,,,,\nwaiting,24,10,,,,\n"
    assert Costs.read(put(tmp_path, "costs.csv", text)).waiting == ((0, 0), (24, 10), (72, 200))
    assert Costs.read(put(tmp_path, "rate.csv", HEADER + "waiting,1,2.5,,,,\n")).waiting == 2.5


SURCHARGES = "kind,name,price,truth,result,where,after\ntest,dye,30,,,,\n"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("surcharge,die,5,sick,,,", ["surcharge of 'die', which has no row of kind test", "'dye'", "price 0"]),
        ("surcharge,dye,5,,,,", ["surcharge of test 'dye' has no condition"]),
        ("surcharge,dye,five,sick,,,", ["price of surcharge 'dye' must be a number"]),
        ("surcharge,dye,5,,,age,", ["'dye'", "'age < 1; sex = f'", "not 'age'"]),
        ("surcharge,dye,5,,,age < 1; age > 0,", ["names 'age' twice"]),
        ("surcharge,dye,5,,,dye < 1,", ["names the test itself"]),
        ("surcharge,dye,5,,,age < x,", ["'dye'", "'age < 1; sex = f'", "not 'age < x'"]),
        ("surcharge,dye,5,,,,dye", ["after", "names the test itself"]),
        ("surcharge,dye,-31,sick,,,", ["discounts can add up to 31"]),
        ("waiting,soon,5,,,,", ["time of waiting must be a number", "'soon'"]),
        ("waiting,-1,5,,,,", ["a time of waiting must be at least 0"]),
        ("waiting,1,5,sick,,,", ["a row of kind waiting has no truth"]),
    ],
)
def test_mistakes_in_surcharges_and_waiting_name_file_and_line(row: str, words: list[str], tmp_path: Path) -> None:
    message = refusal(put(tmp_path, "costs.csv", SURCHARGES + row + "\n"))
    for word in words:
        assert word in message
    assert "costs.csv, line " in message


def test_toml_is_written_to_be_read(tmp_path: Path) -> None:
    costs = Costs(
        tests={"age": 1, "serum chol": Test(5.17, "blood", True), "fti": Test(0, requires=("tt4", "t4u"))},
        groups={"blood": 2.10},
        errors={"sick": {"buff": 500, "?": 20}, "buff": {"sick": 100, "buff": -5, "?": 20}},
        about={"currency": "CAD"},
    )
    costs.write(tmp_path / "costs.toml")
    assert (
        (tmp_path / "costs.toml").read_text()
        == """[about]
currency = "CAD"

[tests]
age = 1.0
"serum chol" = { price = 5.17, group = "blood", delayed = true }
fti = { price = 0.0, requires = ["tt4", "t4u"] }

[groups]
blood = 2.1

[errors.sick]
buff = 500.0
"?" = 20.0

[errors.buff]
sick = 100.0
buff = -5.0
"?" = 20.0
"""
    )


# --- writing --------------------------------------------------------------------------------------------------------


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ValueError, match=r"folder\.toml: is a folder"):
        Costs().write(tmp_path / "folder.toml")
    with pytest.raises(ValueError, match=r"can only be read; valid suffixes for writing: '\.toml', '\.csv'"):
        Costs().write(tmp_path / "heart.cost")
    with pytest.raises(FileNotFoundError):
        Costs().write(tmp_path / "nowhere" / "costs.toml")
    for suffix in (".toml", ".csv"):
        with pytest.raises(ValueError, match="cannot be written as UTF-8"):
            Costs(tests={"a\ud800": 1}).write(tmp_path / f"costs{suffix}")
    assert os.listdir(tmp_path) == ["folder.toml"]


@pytest.mark.parametrize("name", ["costs.json", "costs", "costs.toml.bak"])
def test_unknown_suffixes_name_the_valid_ones(name: str, tmp_path: Path) -> None:
    writable = [suffix for suffix, known in cost_files.FORMATS.items() if known.write is not None]
    for act, suffixes in ((Costs.read, list(cost_files.FORMATS)), (Costs().write, writable)):
        with pytest.raises(ValueError, match="unknown suffix") as caught:
            act(tmp_path / name)
        named = [suffix for suffix in cost_files.FORMATS if f"'{suffix}'" in str(caught.value)]
        assert named == suffixes


# --- unreadable files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".toml", ".csv"])
def test_unreadable_files(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"costs{suffix}"
    with pytest.raises(FileNotFoundError, match="no such file") as caught:
        Costs.read(path)
    assert str(path) in str(caught.value)
    path.mkdir()
    assert "is not a file" in refusal(path)
    path.rmdir()
    path.write_bytes(b"errors = 5 # \xff\x81")
    assert "not UTF-8 text (byte 13)" in refusal(path)

    def fail(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", fail)
    assert "cannot be read: Permission denied" in refusal(path)


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    assert Costs.read(put(tmp_path, "a.csv", "\ufeffkind,name,price\r\ntest,age,1\r\n")) == Costs(tests={"age": 1})
    assert Costs.read(put(tmp_path, "a.toml", "\ufefferrors = 5\r\n")) == Costs(errors=5)


# --- TOML -----------------------------------------------------------------------------------------------------------


def test_the_documented_example() -> None:
    costs = Costs.read(DOCS / "example-costs.toml")
    assert costs.about["currency"] == "CAD"
    assert costs.price("chol") == pytest.approx(7.27)
    assert costs.price("chol", paid={"fbs"}) == pytest.approx(5.17)
    assert costs.price("fti") == pytest.approx(12.41 + 9.31 + 2.10)
    assert costs.price("slope", paid={"thalach"}) == 1.0
    assert costs.tests["resting pressure"] == Test(1.0)
    answers, matrix = costs.error_matrix(["buff", "sick"])
    assert answers == ["buff", "sick", "unknown"]
    assert matrix.tolist() == [[-5.0, 100.0, 60.0], [500.0, 0.0, 60.0]]
    used = {
        feature
        for test in costs.tests.values()
        for feature in ("group", "delayed", "requires", "wait", "surcharges")
        if getattr(test, feature)
    }
    assert used == {"group", "delayed", "requires", "wait", "surcharges"}  # the example shows everything
    surcharges = [own for test in costs.tests.values() for own in test.surcharges]
    for condition in ("truth", "result", "where", "after"):
        assert sum(bool(getattr(own, condition)) for own in surcharges) == 1
    assert costs.price("haemoglobin") == pytest.approx(2.10 + 8.63)
    assert costs.price("platelets", paid={"haemoglobin"}) == 0
    assert costs.waiting_price(48) == 105


@pytest.mark.parametrize(("kind", "fence"), [("toml", "toml"), ("csv", "text")])
def test_the_files_shown_in_the_guide_can_be_read(kind: str, fence: str, tmp_path: Path) -> None:
    section = (DOCS / "costs.md").read_text(encoding="utf-8").split(f"\n### {kind.upper()}\n")[1]
    blocks = [block.split("```")[0] for block in section.split(f"```{fence}\n")[1:]]
    costs = Costs.read(put(tmp_path, f"guide.{kind}", blocks[0]))
    assert costs.price("chol") == pytest.approx(7.27)
    assert costs.tests["fti"].requires == ("tt4", "t4u")
    costs = Costs.read(put(tmp_path, f"more.{kind}", blocks[-1]))
    assert costs.tests["platelets"] == Test(0.0, group=("blood", "count"), wait=24.0)
    assert costs.tests["exercise"].surcharges[0] == Surcharge(500.0, truth="sick")
    assert costs.waiting_price(24) == pytest.approx(60 if kind == "toml" else 10)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("errors = ", ["invalid TOML"]),
        ("[tests]\nage = 1\nage = 2", ["invalid TOML"]),
        ("error = 5", ["unknown key 'error'", "did you mean 'errors'"]),
        ("tests = 5", ["tests must be a table", "5"]),
        ("groups = [1]", ["groups must be a table"]),
        ("about = 'x'", ["about must be a table"]),
        ("errors = [[0, 1], [1, 0]]", ["errors must be a number or tables"]),
        ("errors = true", ["errors", "number"]),
        ("errors = 'x'", ["errors must be a number"]),
        ("errors = inf", ["errors", "finite"]),
        ("[errors]\nsick = 5", ["errors['sick']", "mapping"]),
        ("[errors.a]\nb = 5\n[errors.b]", ["errors['b']", "answer 'a'"]),
        ("[errors.a]\nb = 1979-05-27\n[errors.b]\na = 1", ["errors['a']['b']", "number"]),
        ("[tests]\nage = -1", ["'age'", "at least 0"]),
        ("[tests]\nage = nan", ["'age'", "finite"]),
        ("[tests]\nage = '1'", ["'age'", "number"]),
        ("[tests]\nage = { price = 1, dealyed = true }", ["'age'", "'dealyed'", "'delayed'"]),
        ("[tests]\nage = { delayed = true }", ["'age'", "no price"]),
        ("[tests]\nage = { price = 1, group = 'A' }", ["'age'", "unknown group 'A'"]),
        ("[tests]\nage = { price = 1, requires = 'b' }", ["'age'", "list of names"]),
        ("[tests]\nage = { price = 1, requires = ['age'] }", ["'age'", "itself"]),
        ("[groups]\nA = 1", ["'A'", "no test"]),
        ("[about]\nyear = 1995", ["'year'", "string"]),
    ],
)
def test_mistakes_in_toml(text: str, words: list[str], tmp_path: Path) -> None:
    message = refusal(put(tmp_path, "costs.toml", text))
    assert "costs.toml: " in message
    assert all(word in message for word in words), message


# --- CSV ------------------------------------------------------------------------------------------------------------


def test_csv_in_any_order_with_blanks(tmp_path: Path) -> None:
    text = """Kind, name , price,answer,requires,group,delayed

    error,b,2,a
    test, chol ,5.17,,,A,Yes
    group,A,2.10
    TEST,fti,0,,"tt4; t4u",,
    error,a,1,b,,,
    ,,,
    """
    assert Costs.read(put(tmp_path, "costs.csv", text)) == Costs(
        tests={"chol": Test(5.17, "A", True), "fti": Test(0, requires=("tt4", "t4u"))},
        groups={"A": 2.10},
        errors={"a": {"b": 1}, "b": {"a": 2}},
    )


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, ["empty", "kind,name,price"]),
        ("\n\n", 1, ["empty"]),
        ("kind,name,cost\n", 1, ["unknown column 'cost'", "price"]),
        ("\nkind,name,price,name\n", 2, ["'name' appears twice"]),
        ("kind,name\n", 1, ["'price' is missing"]),
        (HEADER + "test,a,1\ntest,b,1,,,,,9\n", 3, ["8 cells", "7 columns"]),
        (HEADER + "tests,a,1\n", 2, ["unknown kind 'tests'", "did you mean 'test'"]),
        (HEADER + "test,,1\n", 2, ["needs a name"]),
        (HEADER + "group,A,1,B\n", 2, ["kind group has no group", "'B'"]),
        (HEADER + "test,a,1,,,,b\n", 2, ["kind test has no answer", "'b'"]),
        (HEADER + "error,a,1\n", 2, ["'a' needs an answer"]),
        (HEADER + "test,a,x\n", 2, ["price of test 'a'", "number", "'x'"]),
        (HEADER + "test,a,\n", 2, ["price of test 'a'", "number", "''"]),
        (HEADER + "error,a,?,,,,b\n", 2, ["price of error 'a'", "'?'"]),
        (HEADER + "test,a,1,,maybe\n", 2, ["'a'", "yes or no", "'maybe'"]),
        (HEADER + "test,a,1\n\ntest,b,1\ntest,a,2\n", 5, ["test 'a' is already given at", "line 2"]),
        (HEADER + "group,a,1\ngroup,a,1\n", 3, ["group 'a' is already"]),
        (HEADER + "error,a,1,,,,b\nerror,a,1,,,,b\n", 3, ["error 'a' 'b' is already"]),
        (HEADER + "error,*,1,,,,*\nerror,a,1,,,,b\n", 2, ["'*'"]),
        (HEADER + "error,a,1,,,,b\nerror,*,1,,,,b\n", 3, ["'*'"]),
        (HEADER + "error,a,1,,,,*\n", 2, ["'*'"]),
        (HEADER + 'test,"a"x,1\n', 2, ["invalid CSV"]),
        (HEADER + 'about,t,,,,,"two\nlines"\ntest,"a,1\n', 4, ["invalid CSV"]),
        (HEADER + 'about,t,,,,,"two\nlines"\ntest,a,-1\n', 4, ["'a'", "at least 0"]),
        (HEADER + "test,a,inf\n", 2, ["'a'", "finite"]),
        (HEADER + "test,b,1\ntest,a,1,G\n", 3, ["'a'", "unknown group 'G'"]),
        (HEADER + "test,b,1\ngroup,G,1\n", 3, ["'G'", "no test"]),
        (HEADER + "test,b,1\ntest,a,1,,,a\n", 3, ["'a'", "itself"]),
        (HEADER + "test,b,1\ntest,a,1,,,b;\n", 3, ["'a'", "''"]),
        (HEADER + "test,x,1\ntest,a,1,,,b\ntest,b,1,,,a\n", None, ["cycle"]),
        (HEADER + "test,x,1\nerror,a,nan,,,,b\nerror,b,1,,,,a\n", 3, ["errors['a']['b']", "finite"]),
        (HEADER + "error,a,1,,,,b\nerror,b,1,,,,a\nerror,b,1,,,,c\n", 2, ["errors['a']", "answer 'c'"]),
    ],
)
def test_mistakes_in_csv_name_file_and_line(text: str, line: int | None, words: list[str], tmp_path: Path) -> None:
    message = refusal(put(tmp_path, "costs.csv", text))
    assert f"costs.csv, line {line or ''}" in message
    assert all(word in message for word in words), message


# --- Turney's four files --------------------------------------------------------------------------------------------

FILES = {
    ".cost": "age:\t\t1.00\nchol:\t\t7.27\nfbs:\t\t5.20\ntwo words:\t3\n\n\n",
    ".delay": "age:\t\timmediate.\nchol:\t\tdelayed.\nfbs:\t\tdelayed.\n\ntwo words:\timmediate\n",
    ".expense": "age:\t\t1.00,\t\t1.00\nchol:\t\t7.27,\t\t5.17\nfbs:\t\t5.20,\t\t3.10.\ntwo words:\t3.00,3.0\n\n",
    ".group": "A.\n\nchol:\t\tA.\nfbs:\t\tA.\n\n",
}


def four(folder: Path, **changes: str) -> Path:
    """Write the four files, some of them changed, and return the path of one."""
    for suffix, text in FILES.items():
        put(folder, f"toy{suffix}", changes.get(suffix[1:], text))
    return folder / "toy.cost"


TOY = Costs(
    tests={
        "age": 1.0,
        "chol": Test(5.17, "A", True),
        "fbs": Test(3.10, "A", True),
        "two words": 3.0,
    },
    groups={"A": 2.10},
)


@pytest.mark.parametrize("suffix", FILES)
def test_turney_format_by_any_of_its_files(suffix: str, tmp_path: Path) -> None:
    four(tmp_path)
    assert Costs.read(tmp_path / f"toy{suffix}") == TOY


def test_turney_format_without_groups(tmp_path: Path) -> None:
    path = four(
        tmp_path,
        group="\n",
        expense="age: 1.00, 1.00\nchol: 7.27, 7.27\nfbs: 5.20, 5.20\ntwo words: 3, 3\n",
    )
    assert Costs.read(path) == TOY.without_groups()


@pytest.mark.parametrize("suffix", FILES)
def test_a_missing_file_of_the_four_is_named(suffix: str, tmp_path: Path) -> None:
    path = four(tmp_path)
    (tmp_path / f"toy{suffix}").unlink()
    with pytest.raises(FileNotFoundError, match="belong together") as caught:
        Costs.read(path)
    assert f"'toy{suffix}'" in str(caught.value)


@pytest.mark.parametrize(
    ("suffix", "old", "new", "line", "words"),
    [
        (".cost", "7.27", "7.28", 2, ["'chol'", "7.28", "7.27", ".expense"]),
        (".cost", "7.27", "x", 2, ["'chol'", "number", "'x'"]),
        (".cost", "chol", "chl", 2, ["unknown test 'chl'", "'chol'"]),
        (".cost", "chol:\t\t", "chol ", 2, ["expected 'test: value'", "chol 7.27"]),
        (".cost", "chol", "age", 2, ["'age' is already given at", "line 1"]),
        (".delay", "delayed", "later", 2, ["'chol'", "immediate or delayed", "'later'"]),
        (".delay", "chol:\t\tdelayed.", "", 2, ["'chol' is missing"]),
        (".expense", "5.17", "5.17, 5", 2, ["'chol'", "full price, discount price"]),
        (".expense", "7.27", "NaN", 2, ["'chol'", "finite"]),
        (".expense", "5.17", "-5.17", 2, ["'chol'", "at least 0"]),
        (".expense", "5.17", "8.17", 2, ["'chol'", "8.17", "is above", "7.27"]),
        (".expense", "3.10", "3.20", 3, ["group 'A'", "2.10", "'chol'", "2.00", "'fbs'"]),
        (".expense", "3.00,3.0", "3.00,2.0", 4, ["'two words'", "discount", "not in a group"]),
        (".group", "A.\n\n", "", 1, ["expected the list of groups"]),
        (".group", "A.\n", "A,,B.\n", 1, ["expected the list of groups"]),
        (".group", "A.\n\n", "A, B.\n\n", 1, ["group 'B' has no test"]),
        (".group", "fbs:\t\tA", "fbs:\t\tB", 4, ["'fbs'", "unknown group 'B'", "'A'"]),
        (".group", "fbs", "fbx", 4, ["unknown test 'fbx'", "'fbs'"]),
    ],
)
def test_mistakes_in_turney_files(suffix: str, old: str, new: str, line: int, words: list[str], tmp_path: Path) -> None:
    message = refusal(four(tmp_path, **{suffix[1:]: FILES[suffix].replace(old, new, 1)}))
    reported = ".expense" if "is missing" in words[0] else suffix
    assert f"toy{reported}, line {line}: " in message
    assert all(word in message for word in words), message


def test_a_huge_price_is_refused_with_its_line(tmp_path: Path) -> None:
    huge = {"cost": FILES[".cost"].replace("1.00", "1e400"), "expense": FILES[".expense"].replace("1.00", "1e400")}
    message = refusal(four(tmp_path, **huge))
    assert "toy.expense, line 1: " in message
    assert "'age'" in message


def turney_folder() -> Path:
    if "WORTHWHILE_DATA" not in os.environ:
        pytest.skip("WORTHWHILE_DATA is not set: the published price lists lie in its folder costs/turney_original")
    return Path(os.environ["WORTHWHILE_DATA"]) / "costs" / "turney_original"


def test_published_heart_prices() -> None:
    costs = Costs.read(turney_folder() / "heart-disease.cost")
    assert len(costs.tests) == 13
    assert dict(costs.groups) == {"A": 2.10, "B": 101.90, "C": 86.30}
    assert costs.tests["thalach"] == Test(1.00, "B", True)
    assert costs.tests["thal"] == Test(1.00, "B", True)
    assert costs.tests["restecg"] == Test(15.50, None, True)
    assert costs.tests["age"] == Test(1.00)
    assert costs.price("chol") == pytest.approx(7.27)
    assert costs.price("thal", paid={"thalach"}) == 1.0
    assert costs.total_price() == pytest.approx(4 + 15.5 + 100.9 + (2.1 + 5.17 + 3.1) + (101.9 + 2) + (86.3 + 3))
    full = {name: costs.without_groups().price(name) for name in costs.tests}
    assert full["exang"] == pytest.approx(87.30)
    assert sum(full.values()) == pytest.approx(600.57)


def test_published_thyroid_prices() -> None:
    costs = Costs.read(str(turney_folder() / "ann-thyroid.group"))
    assert len(costs.tests) == 20
    assert dict(costs.groups) == {"A": 2.10}
    assert costs.total_price() == pytest.approx(16 + 2.10 + 20.68 + 9.31 + 12.41 + 9.31)
    assert {name for name, test in costs.tests.items() if test.delayed} == {"TSH", "T3", "TT4", "T4U"}


def test_price_lists_from_spreadsheets(tmp_path: Path) -> None:
    """Semicolons, decimal commas, Windows' encoding, cells that are empty: as a German Excel writes CSV."""
    text = (
        "kind;name;price;group;delayed;requires;answer;;\r\n"
        "about;title;;;;;Käse, Öl;;\r\n"
        "test;Größe;5,5;Blut;yes;;;;\r\n"
        "test;t;1.234,5;;;;;;\r\n"
        'test;u;7;;;"t;Größe";;;\r\n'
        "test;v;0,125;;;t, Größe;;;\r\n"
        ";;;;;;;;\r\n"
        "group;Blut;2,10;;;;;;\r\n"
        "error;*;100;;;;*;;\r\n"
    )
    wanted = Costs(
        tests={
            "Größe": Test(5.5, group="Blut", delayed=True),
            "t": 1234.5,
            "u": Test(7, requires=("t", "Größe")),
            "v": Test(0.125, requires=("t", "Größe")),
        },
        groups={"Blut": 2.1},
        errors=100,
        about={"title": "Käse, Öl"},
    )
    path = tmp_path / "costs.csv"
    for encoding in ("cp1252", "utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(encoding))
        assert Costs.read(path) == wanted
    pytest.importorskip("openpyxl")
    wanted.write(tmp_path / "costs.xlsx")
    assert Costs.read(tmp_path / "costs.xlsx") == wanted


def test_prices_that_may_mean_thousands_or_decimals(tmp_path: Path) -> None:
    path = put(tmp_path, "costs.csv", 'kind,name,price\ntest,age,"1,234"\n')
    assert "line 2: price of test 'age': 1,234 may mean thousands or decimals" in refusal(path)
    path = put(tmp_path, "costs.csv", "kind;name;price\ntest;a;1,5\ntest;age;1.234\n")
    assert "line 3: price of test 'age': 1.234 may mean thousands or decimals" in refusal(path)
    path = put(tmp_path, "costs.csv", 'kind,name,price\ntest,age,"5,5"\ntest,b,7.25\n')
    assert Costs.read(path).tests["age"].price == 5.5
    assert Costs.read(put(tmp_path, "costs.csv", "kind;name;price\ntest;a;1.234\n")).tests["a"].price == 1.234


@pytest.mark.parametrize("line", ["age = 5,5", "age = { price = 5,5, group = 'blood' }"])
def test_decimal_commas_in_toml_are_explained(line: str, tmp_path: Path) -> None:
    message = refusal(put(tmp_path, "costs.toml", f"errors = 10\n[tests]\n{line}\n"))
    assert "line 3" in message
    assert message.endswith("; numbers need a decimal point: write 5.5")
    assert "decimal point" not in refusal(put(tmp_path, "costs.toml", "[tests]\nage = [1,5\n"))


def test_excel_price_lists_with_mistakes(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["kind", "name", "price", "delayed"], ["test", "age", 5.5, True], ["tset", "b", 1, False]):
        book.active.append(row)
    book.save(tmp_path / "costs.xlsx")
    assert "costs.xlsx, row 3: unknown kind 'tset'" in refusal(tmp_path / "costs.xlsx")
    with pytest.raises(ValueError, match=r"costs.xlsx: an Excel cell cannot contain 'a\\x01'; write a .toml file"):
        Costs(tests={"a\x01": 1}).write(tmp_path / "costs.xlsx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = " + "[" * 2000 + "]" * 2000, "invalid TOML: it is nested too deeply"),
        ("errors = " + "1" * 400, "errors must be finite, not 1111"),
        ("errors = " + "1" * 5000, "invalid TOML: a number has thousands of digits"),
        ("errors = 0x" + "f" * 5000, "errors must be finite, not a number with thousands of digits"),
        ("[tests]\nage = 1e308\nchol = 1e308", "price of test 'age' must be 0 or from 1e-100 to 1e+100, not 1e+308"),
        ("[tests]\nage = 5e-324", "price of test 'age' must be 0 or from 1e-100 to 1e+100, not 5e-324"),
    ],
)
def test_extreme_toml_is_one_message_with_the_name_of_the_file(tmp_path, text, message):
    path = tmp_path / "costs.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        Costs.read(path)


def test_names_that_are_formulas_are_warned_of(tmp_path):
    costs = Costs(tests={"=cmd()": 1.0})
    with pytest.warns(UserWarning, match=r"prices\.csv: the cell '=cmd\(\)' is a formula"):
        costs.write(tmp_path / "prices.csv")
    assert Costs.read(tmp_path / "prices.csv") == costs


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("[tests]\nbody mass (g) = 5\n", '; names with spaces or signs need quotes: write "body mass (g)" = …'),
        ("[tests]\nÖl = 5\n", '; names with spaces or signs need quotes: write "Öl" = …'),
        ("[errors.not sick]\nsick = 5\n", '; names with spaces or signs need quotes: write [errors."not sick"]'),
        ("[tests]\nage = { price = 1, delayed = True }\n", "; write true, without quotes or capitals"),
        ("[tests]\nage = { price = 1, delayed = no }\n", "; write false, without quotes or capitals"),
    ],
)
def test_frequent_mistakes_in_toml_are_explained(text: str, advice: str, tmp_path: Path) -> None:
    message = refusal(put(tmp_path, "costs.toml", text))
    assert "invalid TOML" in message
    assert message.endswith(advice)


def test_errors_without_answers_are_explained(tmp_path: Path) -> None:
    assert refusal(put(tmp_path, "costs.toml", "[errors]\nsick = 5\nwell = 6\n")).endswith(
        "errors['sick'] must be a mapping: a table [errors.sick] with the cost of each wrong answer, not 5;"
        " one number for all errors is errors = 5, above all tables"
    )
