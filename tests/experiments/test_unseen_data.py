"""A folder of anybody's tables: targets, price lists and splits."""

import pytest

from worthwhile.experiments import unseen_data


@pytest.fixture
def folder(tmp_path):
    rows = "".join(f"{i / 100},{'dry' if i % 3 else 'wet'},{'yes' if i > 40 else 'no'}\n" for i in range(80))
    (tmp_path / "named.csv").write_text("fever,cough,Class\n" + rows)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[tests]\nfevr = 2\n", "tests that are not columns: 'fevr'"),
        ("[tests]\nfever = 0\n", "all of its tests are free"),
        ("[tests]\nfever = 1\n[errors.yes]\nmaybe = 3\n", "no row for class 'no'"),
        ("tests = 3\n", "must be a table"),
    ],
)
def test_a_price_list_that_does_not_fit_is_named(folder, text, reason):
    (folder / "named-costs.toml").write_text(text)
    table = unseen_data.load("named", str(folder))
    assert table.costs is None
    assert table.levels() == ["0.5", "5", "50"]
    assert "random prices, since named-costs.toml does not fit: " in table.line(2000)
    assert reason in table.line(2000)


def test_nobody_pays_surcharges(folder):
    surcharge = '[tests.cough]\nprice = 5\nsurcharges = [{amount = 50, truth = "yes"}]\n'
    (folder / "named.toml").write_text(surcharge)
    table = unseen_data.load("named", str(folder))
    assert table.costs is not None
    assert table.costs.price("cough", truth="yes") == 5
    assert not table.own_errors


def test_rare_classes_are_left_out_and_large_tables_are_sampled(tmp_path):
    rows = [f"{i},{'ab'[i % 2]}" for i in range(300)] + ["1,rare"] * 7
    (tmp_path / "t.csv").write_text("x,class\n" + "\n".join(rows))
    table = unseen_data.load("t", str(tmp_path))
    assert len(table.usable(2000)) == 307
    split = table.split(100, "5", 0)
    assert (len(split.y), len(split.y_new), set(split.y)) == (60, 40, {"a", "b"})


def test_the_target_is_named_or_last(folder):
    text = (folder / "named.csv").read_text()
    (folder / "other.csv").write_text(text.replace("Class", "ill"))
    found = [unseen_data.load(name, str(folder)) for name in ("named", "other")]
    assert [(table.target, table.why) for table in found] == [("Class", "by its name"), ("ill", "the last column")]
    (folder / "other-costs.toml").write_text('[about]\ntarget = "cough"\n[tests]\nfever = 1\n')
    table = unseen_data.load("other", str(folder))
    assert (table.target, table.columns, table.nominal) == ("cough", ["fever", "ill"], ["ill"])
    (folder / "other-costs.toml").write_text('[about]\ntarget = "coff"\n[tests]\nfever = 1\n')
    with pytest.raises(ValueError, match=r"other\.csv: no target column 'coff'"):
        unseen_data.load("other", str(folder))
