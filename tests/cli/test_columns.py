"""The table of columns: what each contains, and what is done with it."""

import csv
import datetime as dt

import numpy as np
import pytest

import worthwhile as ww
from command_line import fails, read_rows, run, write
from worthwhile import cli

N = 60
NAMES = ("Patient", "Nr", "Aufnahme", "Größe", "Stufe", "Notiz", "Ort", "leer", "Befund")
KNOWN = ["--target", "Befund", "--learner", "dtmc"]


def row(i):
    day = (dt.date(2024, 1, 31) + dt.timedelta(days=3 * i)).strftime("%d.%m.%Y")
    height = f"{1.5 + i % 40 / 100:.2f}".replace(".", ",")
    befund = "" if i in (7, 20) else "krank" if i % 40 > 19 else "gesund"
    return [f"P{i:03d}", i + 1, day, height, i % 4, f"Hüfte {i} schmerzt", "Köln", "", befund]


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """A table as a German Excel exports it: semicolons, decimal commas, cp1252, dates, identifiers, free text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")
    with open("clinic.csv", "w", encoding="cp1252", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows([NAMES, *map(row, range(N))])
    return tmp_path


@pytest.mark.usefixtures("clinic")
def test_every_column_is_described_and_identifiers_are_left_out(capsys):
    code, out, err = run(capsys, "learn", "clinic.csv", *KNOWN, "--drop-missing-target")
    assert code == 0
    assert err == (
        "worthwhile: columns 'Patient', 'Notiz' have almost as many values as cases and are not used;"
        " use --nominal if a column is a test, otherwise --drop\n"
    )
    lines = {line.split()[0]: " ".join(line.split()) for line in out.splitlines() if line.strip()}
    assert "clinic.csv: read as Windows text (cp1252); --encoding names another encoding." in out
    assert "clinic.csv: numbers have decimal commas; --decimal says otherwise." in out
    assert "58 cases, 9 columns." in out
    assert "Left out: 2 cases without a class." in out
    assert lines["column"] == "column type values range missing use"
    assert lines["Patient"].startswith("Patient category 58 P000, P001,")
    assert lines["Patient"].endswith("no: identifiers")
    assert lines["Nr"] == "Nr number 58 1 to 60 yes; a row number?"
    assert lines["Aufnahme"] == "Aufnahme date 58 2024-01-31 to 2024-07-26 yes, in days"
    assert lines["Größe"] == "Größe number 39 1.5 to 1.89 yes"
    assert lines["Stufe"] == "Stufe number 4 0 to 3 yes; a code?"
    assert lines["Ort"] == "Ort category 1 Köln no: one value"
    assert lines["leer"] == "leer number 0 58 no: no values"
    assert lines["Befund"] == "Befund category 2 gesund, krank the class"
    assert "few values: Stufe; if they are codes, use --nominal." in out
    assert "Nr; if these are row numbers, use --drop." in out
    model = ww.load("model.json")
    assert model.tree_.tests_used() == ["Größe"]
    assert "Patient" not in model.problem_.columns


@pytest.mark.usefixtures("clinic")
def test_declared_columns_are_used_and_quiet_is_quiet(capsys):
    options = [*KNOWN, "--drop-missing-target"]
    assert run(capsys, "learn", "clinic.csv", *options, "-q") == (0, "", "")
    _, out, err = run(capsys, "learn", "clinic.csv", *options, "--nominal", "Patient,Notiz,Stufe", "--drop", "leer")
    assert err == ""
    assert out.count("yes, as declared") == 3
    assert "Patient" in ww.load("model.json").problem_.columns


@pytest.mark.usefixtures("clinic")
def test_every_command_reads_such_a_table(capsys, monkeypatch):
    options = ["--drop-missing-target"]
    assert "line 9: has no class in column 'Befund' (2 of 60 cases have none); --drop-missing-target" in fails(
        capsys, "learn", "clinic.csv", *KNOWN
    )
    code, out, err = run(capsys, "costs", "init", "clinic.csv", "--target", "Befund", *options)
    assert (code, "columns 'Patient', 'Notiz' have" in err) == (0, True)
    assert "6 tests at 1 each" in out
    assert run(capsys, "learn", "clinic.csv", *KNOWN, *options, "--costs", "costs.toml", "-q")[0] == 0
    _, out, _ = run(capsys, "costs", "check", "costs.toml", "clinic.csv", *options)
    assert "the target is Befund, which has the classes of the error costs; free: Patient, Notiz." in out
    assert "on 58 cases" in run(capsys, "evaluate", "model.json", "clinic.csv", *options)[1]
    _, out, _ = run(capsys, "predict", "model.json", "clinic.csv", "-o", "answers.csv")
    assert "decimal commas" in out
    with open("answers.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert [one["answer"] for one in rows] == ["krank" if i % 40 > 19 else "gesund" for i in range(N)]
    assert rows[0]["Größe"] == "1,50"
    assert rows[0]["price_paid"] == "1,0"
    assert (rows[0]["Notiz"], rows[0]["Ort"]) == ("Hüfte 0 schmerzt", "Köln")
    monkeypatch.setenv("COLUMNS", "200")
    compared = ["compare", "clinic.csv", "--target", "Befund", "--learners", "dtmc,c45", "--folds", "2", "--jobs", "1"]
    code, out, err = run(capsys, *compared, *options)
    assert code == 0
    assert "yes; a row number?" in out
    assert "'Patient', 'Notiz'" in err


@pytest.mark.usefixtures("clinic")
def test_the_same_table_in_excel(capsys):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "Deckblatt"
    sheet = book.create_sheet("Daten")
    sheet.append(NAMES)
    for i in range(N):
        cells = row(i)
        cells[2] = dt.datetime(2024, 1, 31) + dt.timedelta(days=3 * i)
        cells[3] = float(cells[3].replace(",", "."))
        sheet.append([None if cell == "" else cell for cell in cells])
    book.save("clinic.xlsx")
    options = ["--drop-missing-target", "-q"]
    assert "clinic.xlsx: the sheet is empty" in fails(capsys, "learn", "clinic.xlsx", *KNOWN)
    assert cli.run(["learn", "clinic.csv", *KNOWN, *options]) == 0
    assert cli.run(["learn", "clinic.xlsx", *KNOWN, *options, "--sheet", "Daten", "-o", "excel.json"]) == 0
    with open("model.json") as one, open("excel.json") as other:
        assert one.read().replace(' "decimal": ",",', "") == other.read()
    assert cli.run(["predict", "model.json", "clinic.xlsx", "--sheet", "Daten", "-o", "answers.xlsx", "-q"]) == 0
    values = list(openpyxl.load_workbook("answers.xlsx").active.values)
    assert values[0] == (*NAMES, "answer", "price_paid", "tests_used", "probability")
    assert values[1][2] == dt.datetime(2024, 1, 31)
    assert values[1][9:12] == ("gesund", 0, "Größe")
    assert 0.99 < values[1][12] < 1
    ww.Costs(tests={"Größe": 2}, errors=10).write("costs.xlsx")
    assert cli.run(["learn", "clinic.csv", *KNOWN, *options, "--costs", "costs.xlsx"]) == 0
    assert ww.load("model.json").costs.tests["Größe"].price == 2


def test_a_wide_table_is_shortened(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    names = [*(f"x{j}" for j in range(60)), *(f"t{j}" for j in range(5)), "constant", "class"]
    cells = [[*map(str, rng.normal(size=60)), *rng.choice(["a", "b"], 5), "c", "pq"[i % 2]] for i in range(40)]
    write("wide.csv", "\n".join(map(",".join, [names, *cells])) + "\n")
    code, out, _ = run(capsys, "learn", "wide.csv", "--target", "class", "--learner", "c45")
    assert code == 0
    shown = [line.split()[0] for line in out.splitlines() if line.startswith((" x", " t", " constant", " class"))]
    assert shown == [*(f"x{j}" for j in range(38)), "constant", "class"]
    assert "And 27 more columns: 22 numbers, 5 categories." in out


def test_a_test_that_others_require_is_kept(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("a.csv", "id,x,class\n" + "".join(f"n{i},{i % 5},{'pq'[i % 5 > 2]}\n" for i in range(40)))
    write("c.toml", "errors = 9\n[tests]\nid = 1.0\nx = { price = 1.0, requires = ['id'] }\n")
    assert run(capsys, "learn", "a.csv", "--target", "class", "--learner", "dtmc", "--costs", "c.toml", "-q")[0] == 0
    assert ww.load("model.json").problem_.columns == ("id", "x")
    write("c.toml", "errors = 9\n[tests]\nid = 1.0\nx = 1.0\n")  # a price alone does not make it a test
    assert run(capsys, "learn", "a.csv", "--target", "class", "--learner", "dtmc", "--costs", "c.toml", "-q")[0] == 0
    assert ww.load("model.json").problem_.columns == ("x",)
    write("only.csv", "id,class\n" + "".join(f"n{i},{'pq'[i % 2]}\n" for i in range(40)))
    assert fails(capsys, "learn", "only.csv", "--target", "class") == (
        "only.csv: no column can be used: 'id' has almost as many values as cases; use --nominal if it is a test"
    )


def test_dates_on_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{i % 12 + 1:02d}/{i % 9 + 1:02d}/2024,{'pq'[i % 12 > 5]}\n" for i in range(36))
    write("a.csv", "day,class\n" + lines)
    known = ["learn", "a.csv", "--target", "class", "--learner", "dtmc", "-q"]
    assert "use --dates dmy if the day comes first" in fails(capsys, *known)
    assert run(capsys, *known, "--dates", "mdy")[0] == 0
    write("new.csv", "day\n2024-01-05\n2024-12-05\n")
    assert run(capsys, "predict", "model.json", "new.csv", "-o", "out.csv", "-q")[0] == 0
    assert [one["answer"] for one in read_rows(tmp_path / "out.csv")] == ["p", "q"]
    assert "day?" in run(capsys, "show", "model.json")[1]
    assert "≤ 2024-06-" in run(capsys, "show", "model.json")[1]


def test_numbers_with_signs_and_the_index_of_a_frame(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f'{i},{i / 7:.2f}%,"${i},500",{i % 5},{"pq"[i % 5 > 2]}\n' for i in range(40))
    write("a.csv", ",rate,amount,x,class\n" + rows)
    code, out, err = run(capsys, "learn", "a.csv", "--target", "class", "--learner", "dtmc")
    assert code == 0
    assert "column 1  number        40  0 to 39" in out
    assert "Rising from case to case: column 1; if these are row numbers, use --drop." in " ".join(out.split())
    lines = err.splitlines()
    assert lines[0].startswith("worthwhile: columns 'rate', 'amount' have almost as many values as cases")
    assert (
        lines[1] == "worthwhile: column 'rate' contains numbers with a sign, e.g. '0.00%'; remove the sign to use them"
    )
    assert "column 'amount' contains numbers with a sign, e.g. '$0,500'" in lines[2]


def test_the_suggested_command_can_be_pasted(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("my data.csv", "x,is it?\n" + "".join(f"{i % 5},{'pq'[i % 5 > 2]}\n" for i in range(40)))
    out = run(capsys, "learn", "my data.csv", "--target", "is it?", "--learner", "dtmc")[1]
    assert "worthwhile costs init 'my data.csv' --target 'is it?' -o costs.toml" in out


def test_whole_numbers_that_almost_all_differ_may_be_identifiers(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    with open("tickets.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["ticket", "age", "dose", "y"])
        writer.writerows([10_000 + i * 37 % 101, 20 + i % 40, (i * 37 % 101) / 4, "ab"[i % 3 == 0]] for i in range(60))
    code, out, _ = run(capsys, "learn", "tickets.csv", "--target", "y", "--learner", "dtmc")
    assert code == 0
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert lines["ticket"][-3:] == ["yes;", "an", "identifier?"]
    assert lines["age"][-1] == lines["dose"][-1] == "yes"
    assert "Whole numbers that almost all differ: ticket; if these are identifiers, use --drop." in out
