"""Tables and price lists with mistakes: one line that says what and where, exit code 2, and no half-written file."""

import gzip
import math
import random
import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import worthwhile as ww
from command_line import COSTS, HEAD, ROWS, fails, read_rows, run, run_joined, write
from counting import CountedName, counted
from worthwhile import cli
from worthwhile.cli import reading
from worthwhile.table.files import MEASURED
from worthwhile.table.schema import Schema
from worthwhile.tree.context import ProblemContext


def learn(capsys, data, *options, target="class", costs="costs.toml"):
    known = ["--costs", costs] if costs else []
    return fails(
        capsys, "learn", data, "--target", target, *known, "--learner", "dtmc", "-q", "-o", "new.json", *options
    )


@pytest.mark.usefixtures("good_files")
def test_a_wrong_target(capsys):
    assert learn(capsys, "good.csv", target="Class") == ("good.csv: no target column 'Class'; did you mean 'class'?")
    assert "valid: 'age', 'pain', 'chol', 'class'" in learn(capsys, "good.csv", target="diagnosis")
    assert fails(capsys, "compare", "good.csv", "--target", "Class", "-q").startswith("good.csv: no target column")
    assert fails(capsys, "costs", "init", "good.csv", "--target", "x", "-o", "c.toml").startswith(
        "good.csv: no target column"
    )
    assert "no target column 'Class'" in fails(capsys, "evaluate", "model.json", "good.csv", "--target", "Class")


@pytest.mark.usefixtures("good_files")
def test_a_price_for_a_column_that_is_not_there(capsys):
    write("c.toml", COSTS.replace("chol", "chols"))
    assert learn(capsys, "good.csv", costs="c.toml") == (
        "c.toml: the costs contain tests that are not columns: 'chols' (priced; did you mean 'chol'?);"
        " --ignore-extra-prices leaves them out"
    )
    assert "c.toml: the costs contain tests" in fails(
        capsys, "costs", "check", "c.toml", "good.csv", "--target", "class"
    )
    write("c.toml", COSTS.replace("chol", "class"))
    assert learn(capsys, "good.csv", costs="c.toml") == "c.toml: has a price for 'class', which is the target column"


@pytest.mark.usefixtures("good_files")
def test_text_in_a_column_of_numbers(capsys):
    rows = [*ROWS]
    rows[16] = "forty,none,200,well\n"
    write("bad.csv", HEAD + "".join(rows))
    message = learn(capsys, "bad.csv")
    assert message.startswith("bad.csv, line 18: column 'age' is numeric, but contains 'forty';")
    assert "--nominal age" in message
    assert "--missing 'forty'" in message
    for option in (["--nominal", "age"], ["--missing", "forty"], ["--missing", "x, forty"]):
        known = ["learn", "bad.csv", "--target", "class", "--learner", "dtmc", "-q", "-o", "fine.json"]
        assert cli.run([*known, *option]) == 0
    assert fails(capsys, "predict", "model.json", "bad.csv", "-o", "a.csv") == (
        "bad.csv, line 18: column 'age' is numeric, but contains 'forty'"
    )
    write("inf.csv", HEAD + "".join(ROWS) + "1e999,none,200,well\n")
    assert "line 42: column 'age' is numeric, but contains '1e999'" in learn(capsys, "inf.csv")


@pytest.mark.usefixtures("good_files")
def test_files_without_cases(capsys):
    assert (
        learn(capsys, write("empty.csv", ""))
        == "empty.csv: the file is empty; its first line must contain the column names"
    )
    assert learn(capsys, write("blank.csv", "\n \n")).startswith("blank.csv: the file is empty")
    assert learn(capsys, write("head.csv", HEAD)) == "head.csv: has 4 columns, but no cases"
    assert learn(capsys, "nowhere.csv") == "nowhere.csv: no such file"
    assert learn(capsys, ".").startswith(".: ")
    assert learn(capsys, write("good.xls", "PK")).startswith(
        "good.xls: unknown suffix '.xls' of a table; save it as .xlsx; valid: .csv"
    )
    with gzip.open("empty.csv.gz", "wb"):
        pass
    assert learn(capsys, "empty.csv.gz").startswith("empty.csv.gz: the file is empty")


@pytest.mark.usefixtures("good_files")
def test_a_first_line_that_names_no_columns(capsys):
    assert learn(capsys, write("a.csv", "63,1,200,sick\n" * 3)).startswith("a.csv: no target column 'class'")
    assert learn(capsys, write("a.csv", "63,1\n64,2\n"), target="1").startswith(
        "a.csv, line 1: contains numbers ('63', '1')"
    )
    assert learn(capsys, write("a.csv", "age,age,class\n1,2,x\n")) == (
        "a.csv, line 1: two columns are named 'age'; every column needs a unique name"
    )
    assert learn(capsys, write("a.csv", "age,,class\n1,2,x\n")) == "a.csv, line 1: column 2 of 3 has no name"
    assert learn(capsys, write("a.csv", "class\nx\ny\n"), costs=None) == (
        "a.csv: has no column besides the target 'class'"
    )


@pytest.mark.usefixtures("good_files")
def test_one_class_only_and_classes_that_are_none(capsys):
    write("one.csv", HEAD + "".join(row for row in ROWS if "sick" in row))
    assert learn(capsys, "one.csv") == "one.csv: column 'class' has only one class, 'sick'; a target needs at least two"
    assert learn(capsys, "good.csv", target="age", costs=None) == (
        f"good.csv: column 'age' contains 40 different numbers such as 79; {MEASURED}"
    )
    write("names.csv", "x,y\n" + "".join(f"{i % 7},name {i % 25}\n" for i in range(40)))
    assert learn(capsys, "names.csv", target="y", costs=None) == (
        "names.csv: column 'y' has 25 different classes for 40 cases ('name 0', 'name 1', 'name 10' and 22 more);"
        " is it the target?"
    )
    write("real.csv", "x,y\n" + "".join(f"{i},{i % 20 + 0.5}\n" for i in range(40)))
    assert learn(capsys, "real.csv", target="y", costs=None) == (
        f"real.csv: column 'y' contains 20 different numbers such as 0.5; {MEASURED}"
    )
    write("gap.csv", HEAD + "".join(ROWS) + "1,none,2,\n3,none,4,?\n")
    assert learn(capsys, "gap.csv") == (
        "gap.csv, line 42: has no class in column 'class' (2 of 42 cases have none);"
        " --drop-missing-target leaves such cases out"
    )


@pytest.mark.usefixtures("good_files")
def test_encodings_are_detected_and_said(capsys):
    known = ["--target", "class", "--costs", "costs.toml", "--learner", "dtmc"]
    text = HEAD + "".join(ROWS[:9]) + "50,müde,200,sick\n" + "".join(ROWS)
    for encoding, said in (
        ("latin-1", "read as Windows text (cp1252)"),
        ("utf-16", "read as UTF-16;"),
        ("utf-16-le", "read as UTF-16-LE;"),
        ("utf-8", ""),
        ("utf-8-sig", ""),
    ):
        write("a.csv", text, encoding=encoding)
        with gzip.open("a.csv.gz", "wb") as file:
            file.write(text.encode(encoding))
        for name in ("a.csv", "a.csv.gz"):
            code, out, err = run(capsys, "learn", name, *known)
            assert (code, err) == (0, "")
            assert said in " ".join(out.split())
            assert ("read as" in out) == bool(said)
            assert ww.load("model.json").tree_.schema.values[1] == ("angina", "müde", "none", "other")
            assert "read as" not in run(capsys, "learn", name, *known, "--encoding", encoding)[1]


@pytest.mark.usefixtures("good_files")
def test_encodings_that_do_not_fit(capsys):
    with open("odd.csv", "wb") as file:
        file.write(HEAD.encode() + b"50,m\xfc\x81de,200,sick\n")
    assert learn(capsys, "odd.csv") == (
        "odd.csv, line 2: is neither UTF-8 nor Windows (cp1252) text (byte 0x81);"
        " name its encoding with --encoding, or save the file as UTF-8"
    )
    assert learn(capsys, "odd.csv", "--encoding", "utf-8") == (
        "odd.csv, line 2: cannot be read as utf-8 (byte 0xfc);"
        " name another encoding with --encoding, or save the file as UTF-8"
    )
    for name in ("klingon", "base64", ""):
        assert "unknown encoding; for example utf-8" in learn(capsys, "good.csv", "--encoding", name)


@pytest.mark.usefixtures("good_files")
def test_broken_files(capsys):
    write("short.csv", HEAD + "".join(ROWS) + "50,none\n")
    assert learn(capsys, "short.csv") == "short.csv, line 42: has 2 cells, but the first line has 4 columns"
    write("long.csv", HEAD + ROWS[0] + "\n" + "50,none,200,well,extra\n")
    assert learn(capsys, "long.csv") == "long.csv, line 4: has 5 cells, but the first line has 4 columns"
    write("quote.csv", HEAD + ROWS[0] + '50,"none,200,well\n' + "".join(ROWS))
    assert learn(capsys, "quote.csv") == "quote.csv, line 3: invalid CSV: unexpected end of data"
    write("quoted.csv", HEAD + '50,"two\nlines",200,well\n' + "50,none\n")
    assert learn(capsys, "quoted.csv").startswith("quoted.csv, line 4: has 2 cells")
    content = gzip.compress((HEAD + "".join(random.Random(0).sample(ROWS * 99, 3000))).encode())
    for name, broken in (("cut.csv.gz", content[: len(content) // 2]), ("not.csv.gz", b"hello")):
        with open(name, "wb") as file:
            file.write(broken)
        assert learn(capsys, name).startswith(f"{name}: ")
    with open("not.parquet", "wb") as file:
        file.write(b"PAR2")
    assert learn(capsys, "not.parquet").startswith("not.parquet: is not a readable Parquet file")


@pytest.mark.usefixtures("good_files")
def test_first_lines_that_cannot_be_cut_into_names(capsys):
    write("quote.csv", '\n"age,class\n' + "1,a\n2,b\n")
    assert learn(capsys, "quote.csv", costs=None) == "quote.csv, line 2: invalid CSV: unexpected end of data"
    write("long.csv", "x" * 200_000 + "\n1\n")
    assert learn(capsys, "long.csv", costs=None).startswith(
        "long.csv, line 1: invalid CSV: field larger than field limit"
    )


@pytest.mark.usefixtures("good_files")
def test_parquet_without_pyarrow(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert learn(capsys, write("a.parquet", "PAR1")) == (
        "a.parquet: Parquet files need pyarrow, which is not installed: pip install 'worthwhile[parquet]', "
        "or save the table as CSV"
    )


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("1,2\n", "line 40002: has 2 cells, but the first line has 3 columns"),
        ("1,x,a\n", "line 40002: column 'v' is numeric, but contains 'x'"),
        ('1,2,"a\n', "line 40002: invalid CSV: unexpected end of data"),
    ],
)
@pytest.mark.usefixtures("good_files")
def test_a_large_file_with_a_bad_last_line(capsys, last, words):
    with open("large.csv", "wb") as file:
        file.write(b"u,v,class\n" + b"1,2,a\n3,4,b\n" * 20_000 + last.encode())
    assert learn(capsys, "large.csv", costs=None).startswith(f"large.csv, {words}")


@pytest.mark.usefixtures("good_files")
def test_costs_that_lack_a_class(capsys):
    write("c.toml", COSTS.replace("[errors.well]\nsick = 50\n", ""))
    message = learn(capsys, "good.csv", costs="c.toml")
    assert message.startswith("c.toml: ")
    assert "'well'" in message
    write("c.toml", COSTS.replace("errors.well", "errors.healthy").replace("well =", "healthy ="))
    message = learn(capsys, "good.csv", costs="c.toml")
    assert message.startswith("c.toml: ")
    assert "'well'" in message


@pytest.mark.usefixtures("good_files")
def test_price_lists_that_are_none(capsys):
    assert learn(capsys, "good.csv", costs="nowhere.toml") == "nowhere.toml: no such file"
    assert learn(capsys, "good.csv", costs=write("c.toml", "[tests\n")).startswith("c.toml: invalid TOML")
    assert learn(capsys, "good.csv", costs=write("c.toml", "[tests]\nage = 'x'\n")).startswith(
        "c.toml: price of test 'age'"
    )
    assert learn(capsys, "good.csv", costs=write("c.xml", "")).startswith("c.xml: unknown suffix '.xml'")
    assert fails(capsys, "costs", "init", "good.csv", "--target", "class", "-o", "c.csv").startswith("c.csv: a starter")


@pytest.mark.usefixtures("good_files")
def test_cases_that_do_not_fit_the_model(capsys):
    assert ww.load("model.json").tree_.tests_used() == ["age"]
    write("other.csv", "pain,chol,class\nnone,200,sick\n")
    assert fails(capsys, "predict", "model.json", "other.csv", "-o", "a.csv") == (
        "other.csv: has no column 'age', which the model needs; its columns are 'pain', 'chol', 'class'"
    )
    write("new.csv", HEAD + "".join(ROWS) + "50,none,200,dead\n")
    assert fails(capsys, "evaluate", "model.json", "new.csv", "--target", "class") == (
        "new.csv, line 42: column 'class' has the class 'dead', which the model does not know;"
        " its classes are 'sick', 'well'"
    )
    assert fails(capsys, "evaluate", "model.json", "new.csv") == (
        "new.csv: no column has only the classes 'sick', 'well'; name the target with --target"
    )
    write("two.csv", "class,truth,age\nsick,well,3\nwell,sick,4\n")
    assert fails(capsys, "evaluate", "model.json", "two.csv") == (
        "two.csv: columns 'class', 'truth' all have the classes 'sick', 'well'; name the target with --target"
    )


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
        assert found["probability"].to_list() == [float(row["probability"]) for row in rows]
        assert math.isclose(found["price_paid"].sum(), sum(float(row["price_paid"]) for row in rows))
    assert run(capsys, "evaluate", tmp_path / "p.json", tmp_path / "heart.parquet")[0] == 0


def test_the_columns_of_a_model_are_found_in_one_pass(monkeypatch):
    context = ProblemContext.of(Schema(tuple(map(str, counted(500))), (None,) * 500), ["a", "b"], None)
    monkeypatch.setattr(reading, "context_of", lambda _: context)
    monkeypatch.setattr(reading, "tests_of", lambda _: counted(500))
    source = SimpleNamespace(names=counted(500), path="a.csv", read=lambda **chosen: chosen)
    assert len(reading.read_cases(None, source)["only"]) == 500
    assert CountedName.count < 20 * 500


@pytest.mark.usefixtures("good_files")
def test_a_price_list_that_is_longer_than_the_table(capsys):
    write(
        "long.toml", COSTS.replace("[errors.sick]", "mri = 400\nratio = {price = 1, requires = ['mri']}\n[errors.sick]")
    )
    known = ["good.csv", "--target", "class", "--costs", "long.toml", "--learner", "dtmc"]
    assert fails(capsys, "learn", *known) == (
        "long.toml: the costs contain tests that are not columns: 'mri' (priced; valid: 'age', 'pain', 'chol'),"
        " 'ratio' (priced; valid: 'age', 'pain', 'chol'); --ignore-extra-prices leaves them out"
    )
    code, out, _ = run_joined(capsys, "learn", *known, "--ignore-extra-prices", "-o", "few.json")
    assert (code, "ignored because the table has no such column: 'mri', 'ratio'." in out) == (0, True)
    assert list(ww.load("few.json").costs.tests) == ["age", "chol"]
    assert cli.run(["costs", "check", "long.toml", "good.csv", "--target", "class", "--ignore-extra-prices", "-q"]) == 0
    write("needs.toml", COSTS.replace("chol = 5.0", "chol = {price = 5, requires = ['mri']}\nmri = 400"))
    assert fails(capsys, "learn", *known[:4], "needs.toml", "--ignore-extra-prices") == (
        "needs.toml: test 'chol' requires 'mri', which must be kept, too"
    )


@pytest.mark.usefixtures("good_files")
@pytest.mark.parametrize("learner", [ww.DTMCClassifier, ww.CascadeClassifier])
def test_models_that_learned_from_a_frame_take_the_columns_of_files_by_name(capsys, learner):
    """Arrays without names would make scikit-learn warn, and a new model would not know which test has which price."""
    frame = pd.read_csv("good.csv", keep_default_na=False)
    known = {"n_trees": 3, "random_state": 0} if learner is ww.CascadeClassifier else {}
    clf = learner(costs=ww.Costs.read("costs.toml"), **known)
    clf.fit(frame[["chol", "pain", "age"]], frame["class"]).save("named.json")
    write("new.csv", HEAD + "".join(ROWS[5:30]))
    for command in (
        ["predict", "named.json", "new.csv", "-o", "answers.csv"],
        ["next", "named.json", "new.csv", "-o", "orders.csv"],
        ["evaluate", "named.json", "new.csv"],
        *([["reprice", "named.json", "--errors", "500", "--data", "new.csv"]] if not known else []),
    ):
        assert run(capsys, *command, "-q") == (0, "", ""), command
    expected = clf.predict(frame[["chol", "pain", "age"]][5:30]).tolist()
    assert [row["answer"] for row in read_rows(Path("answers.csv"))] == expected
    assert [row["answer"] for row in read_rows(Path("orders.csv"))] == expected


PAGE = "<!-- saved -->\n<!DOCTYPE html>\n<html><body>Not found</body></html>\n"
PRICES = "kind,name,price,answer\ntest,age,1,\nerror,sick,100,well\nerror,well,50,sick\n"


@pytest.mark.usefixtures("good_files")
def test_a_wrong_file_where_the_table_should_be(capsys):
    table = "; a table of cases is expected here (CSV, Excel or Parquet)"
    assert learn(capsys, "costs.toml") == f"costs.toml: looks like a price list{table}"
    assert learn(capsys, "model.json") == f"model.json: looks like a saved model{table}"
    assert learn(capsys, write("p.csv", PRICES)) == f"p.csv: looks like a price list{table}"
    assert learn(capsys, write("page.csv", PAGE)) == (
        f"page.csv: looks like an HTML page{table}; if it was downloaded, download the file itself"
    )
    assert learn(capsys, write("page.html", PAGE)) == f"page.html: looks like an HTML page{table}"
    assert learn(capsys, write("doc.csv", "%PDF-1.7\n")) == f"doc.csv: looks like a PDF document{table}"
    assert learn(capsys, write("doc.xlsx", "%PDF-1.7\n")) == f"doc.xlsx: looks like a PDF document{table}"
    assert learn(capsys, write("empty.parquet", "")) == f"empty.parquet: the file is empty{table}"
    assert fails(capsys, "predict", "model.json", "model.json", "-o", "a.csv").startswith("model.json: looks like a")
    products = write(
        "products.csv", "kind,name,price,class\n" + "".join(f"a,b{i % 4},{i},{i % 2}\n" for i in range(20))
    )
    assert "looks like" not in learn(capsys, products)  # but the price list does not match


@pytest.mark.usefixtures("good_files")
def test_a_wrong_file_where_the_price_list_should_be(capsys):
    prices = "; a price list is expected here (TOML, CSV or Excel)"
    assert learn(capsys, "good.csv", costs="good.csv") == f"good.csv, line 1: looks like a table of cases{prices}"
    assert learn(capsys, "good.csv", costs="model.json") == f"model.json: looks like a saved model{prices}"
    assert learn(capsys, "good.csv", costs=write("page.toml", PAGE)).startswith(
        "page.toml: looks like an HTML page; a price"
    )
    assert fails(capsys, "costs", "check", "good.csv", "costs.toml") == (
        f"good.csv, line 1: looks like a table of cases{prices}"
    )


@pytest.mark.usefixtures("good_files")
def test_a_wrong_file_where_the_model_should_be(capsys):
    model = "; a model that worthwhile saved is expected here (JSON)"
    assert fails(capsys, "show", "good.csv") == f"good.csv: looks like a table{model}"
    assert fails(capsys, "predict", "good.csv", "model.json", "-o", "a.csv") == f"good.csv: looks like a table{model}"
    assert fails(capsys, "next", "costs.toml") == f"costs.toml: looks like a price list{model}"
    assert fails(capsys, "serve", "good.csv") == f"good.csv: looks like a table{model}"
    assert fails(capsys, "show", write("m.json", "[{}]")) == f"m.json: looks like a list in JSON{model}"
    assert fails(capsys, "show", write("m.json", "hello")) == f"m.json: looks like text that is not JSON{model}"
    assert fails(capsys, "show", write("m.json", "")) == f"m.json: the file is empty{model}"


@pytest.mark.usefixtures("good_files")
def test_an_empty_price_list(capsys):
    start = "; worthwhile costs init DATA --target COLUMN writes one to start from"
    empty = f"the price list is empty: it has neither prices of tests nor costs of errors{start}"
    assert learn(capsys, "good.csv", costs=write("c.toml", "")) == f"c.toml: {empty}"
    assert (
        learn(capsys, "good.csv", costs=write("c.toml", '# later\n[about]\ntitle = "x"\n[tests]\n'))
        == f"c.toml: {empty}"
    )
    assert learn(capsys, "good.csv", costs=write("c.csv", "kind,name,price\n")) == f"c.csv: {empty}"


@pytest.mark.usefixtures("good_files")
@pytest.mark.parametrize("head", ["test,price", "name,price", "name,price,test", "kind,name,cost"])
def test_a_wrong_header_of_a_price_list_says_which_columns_it_may_have(capsys, head):
    message = learn(capsys, "good.csv", costs=write("c.csv", f"{head}\n" + COSTS))
    assert "a price list in a spreadsheet has the columns kind, name, price and, where needed, group, del" in message
    assert message.endswith("such as test,age,5.00")


@pytest.mark.usefixtures("good_files")
def test_right_files_are_taken(capsys):
    with gzip.open("zipped.csv.gz", "wt") as file:
        file.write(HEAD + "".join(ROWS))
    write("p.csv", PRICES)
    for table in ("good.csv", "zipped.csv.gz"):
        known = ["--target", "class", "--costs", "p.csv", "--learner", "dtmc", "-q", "-o", "new.json"]
        assert cli.run(["learn", table, *known]) == 0
    assert cli.run(["show", "new.json", "-q"]) == 0


@pytest.mark.usefixtures("good_files")
def test_many_numbers_as_classes_are_doubted(capsys):
    write("ages.csv", "x,age\n" + "".join(f"{i % 7},{20 + i % 30}\n" for i in range(90)))
    known = ["learn", "ages.csv", "--target", "age", "--learner", "dtmc", "-o", "new.json"]
    code, _, err = run(capsys, *known)
    assert (code, err) == (
        0,
        f"worthwhile: column 'age' contains 30 different numbers; if they are measured, {MEASURED}\n",
    )
    assert run(capsys, *known, "-q")[2] == ""


@pytest.mark.usefixtures("good_files")
def test_classes_that_look_alike(capsys):
    write("c.toml", COSTS.replace("sick", "Sick"))
    assert learn(capsys, "good.csv", costs="c.toml") == (
        "c.toml: errors has no row for class 'sick'; its classes are 'Sick', 'well'; did you mean 'Sick'?"
    )
    write("c.toml", COSTS.replace("[errors.well]\nsick", "[errors.well]\nSick"))
    assert learn(capsys, "good.csv", costs="c.toml") == (
        "c.toml: errors['sick'] has no cost for answer 'Sick'; every class needs a cost for each of the answers 'well',"
        " 'Sick'; 'Sick' and 'sick' look alike: use one spelling"
    )
    write(
        "c.toml", COSTS.replace("chol = 5.0", "chol = { price = 5.0, surcharges = [{ amount = 1, truth = 'SICK ' }] }")
    )
    assert learn(capsys, "good.csv", costs="c.toml").endswith("the unknown class 'SICK '; did you mean 'sick'?")
    write("mixed.csv", HEAD + "".join(ROWS).replace("well", "Well", 2).replace("none", "None", 1))
    assert fails(capsys, "evaluate", "model.json", "mixed.csv", "--target", "class") == (
        "mixed.csv, line 2: column 'class' has the class 'Well', which the model does not know;"
        " its classes are 'sick', 'well'; did you mean 'well'?"
    )
    code, _, err = run(capsys, "learn", "mixed.csv", "--target", "class", "--learner", "dtmc", "-o", "new.json")
    same = "; if they mean the same, spell them alike in the table\n"
    assert (code, err) == (
        0,
        f"worthwhile: column 'pain' has values that look alike: 'None' (1 case) and 'none' (13 cases){same}"
        f"worthwhile: column 'class' has classes that look alike: 'Well' (2 cases) and 'well' (18 cases){same}",
    )


def test_numbers_that_are_written_differently_are_the_same_class():
    costs = ww.Costs(errors={"1": {"2": 5}, "2": {"1": 9}})
    assert costs.error_matrix([1.0, 2.0])[1].tolist() == [[0, 5], [9, 0]]
    with pytest.raises(ValueError, match=r"no row for class '01'; its classes are '1', '2'; did you mean '1'\?"):
        costs.check_classes(["01", "2"])
    with pytest.raises(ValueError, match=r"no row for class 3; its classes are '1', '2'$"):
        costs.check_classes([3, 2])
