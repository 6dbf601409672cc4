"""`worthwhile costs`: starter price lists, and checks."""

import pytest

import worthwhile as ww
from command_line import run_joined as run
from command_line import write, write_table
from worthwhile.cli.costs import _starter
from worthwhile.costs import files


def test_a_starter_price_list_is_a_price_list(capsys, folder, tmp_path):
    code, out, err = run(
        capsys,
        "costs",
        "init",
        folder / "heart.csv",
        "--target",
        "class",
        "--drop",
        "ca",
        "-o",
        tmp_path / "costs.toml",
    )
    assert (code, err) == (0, "")
    assert "12 tests at 1 each" in out
    costs = ww.Costs.read(tmp_path / "costs.toml")
    assert {test.price for test in costs.tests.values()} == {1.0}
    assert "ca" not in costs.tests
    assert "class" not in costs.tests
    assert costs.error_matrix(["buff", "sick"])[1].tolist() == [[0.0, 120.0], [120.0, 0.0]]
    text = (tmp_path / "costs.toml").read_text()
    for word in ("group", "delayed", "requires", "unknown", "currency"):
        assert word in text
    options = ["--costs", tmp_path / "costs.toml", "--learner", "dtmc", "--drop", "ca", "-o", tmp_path / "m.json"]
    assert run(capsys, "learn", folder / "heart.csv", "--target", "class", *options)[0] == 0


def test_comments_of_the_starter_are_right(capsys, folder, tmp_path):
    run(capsys, "costs", "init", folder / "heart.csv", "--target", "class", "-o", tmp_path / "costs.toml")
    text = (tmp_path / "costs.toml").read_text()
    for example in ('age = { price = 5.0, group = "blood" }', 'age = { price = 0.0, requires = ["sex", "cp"] }'):
        assert f"#   {example}\n" in text
        changed = text.replace("\nage = 1.0\n", f"\n{example}\n")
        if "group" in example:
            changed = changed.replace("# [groups]\n# blood", "[groups]\nblood")
        (tmp_path / "changed.toml").write_text(changed)
        assert "age" in ww.Costs.read(tmp_path / "changed.toml").tests


def test_a_starter_does_not_replace_a_file_unless_told(capsys, folder, tmp_path):
    mine = tmp_path / "costs.toml"
    mine.write_text("errors = 7")
    arguments = ["costs", "init", folder / "heart.csv", "--target", "class", "-o", mine]
    code, _, err = run(capsys, *arguments)
    assert (code, err) == (2, f"worthwhile: {mine}: already exists; use --force to replace it\n")
    assert mine.read_text() == "errors = 7"
    assert run(capsys, *arguments, "--force", "-q") == (0, "", "")
    assert len(ww.Costs.read(mine).tests) == 13


def test_a_starter_for_odd_names_and_many_classes(capsys, tmp_path):
    names = ['heart rate "a"', "öl", "y"]
    write_table(tmp_path / "d.csv", names, [[i, -i, f"class {i % 9}"] for i in range(30)])
    assert run(capsys, "costs", "init", tmp_path / "d.csv", "--target", "y", "-o", tmp_path / "c.toml")[0] == 0
    costs = ww.Costs.read(tmp_path / "c.toml")
    assert list(costs.tests) == names[:2]
    assert costs.errors == 20.0


def test_costs_check(capsys, folder, tmp_path):
    code, out, _ = run(capsys, "costs", "check", folder / "heart.toml", folder / "heart.csv", "--target", "class")
    assert code == 0
    assert "every test has a price" in out
    assert "13 tests for 323.97 together" in out
    (tmp_path / "few.toml").write_text("errors = 5\n[tests]\nage = 1\n")
    _, out, _ = run(capsys, "costs", "check", tmp_path / "few.toml", folder / "heart.csv", "--target", "class")
    assert "; free: sex, cp, " in out
    code, out, _ = run(capsys, "costs", "check", tmp_path / "few.toml")
    assert (code, out) == (0, "Costs(1 test for 1 together, errors 5)")
    assert run(capsys, "costs", "check", tmp_path / "few.toml", "--target", "y")[0] == 2


def test_a_starter_for_many_classes_is_written_in_one_pass(monkeypatch):
    written = []
    monkeypatch.setattr(files, "_toml_key", lambda name: written.append(name) or name)
    text = _starter("t", ["age", "sex"], [f"c{i}" for i in range(300)])
    assert "errors = 20.0" in text
    assert len(written) < 300


@pytest.mark.usefixtures("good_files")
def test_check_without_a_target_does_not_call_the_class_free(capsys):
    code, out, _ = run(capsys, "costs", "check", "costs.toml", "good.csv")
    assert code == 0
    said = " ".join(out.split())
    assert "the target is class, which has the classes of the error costs; free: pain." in said
    write("uniform.toml", "errors = 50\n[tests]\nage = 1.0\nchol = 5.0\n")
    said = " ".join(run(capsys, "costs", "check", "uniform.toml", "good.csv")[1].split())
    assert "without a price: pain, class. Which column is the target is unknown; name it with --target." in said
    assert "free" not in said
    write("twice.csv", "age,pain,chol,class,copy\n" + "40,none,200,sick,sick\n41,none,200,well,well\n")
    assert "is unknown" in " ".join(run(capsys, "costs", "check", "costs.toml", "twice.csv")[1].split())
    write("all.toml", "errors = 50\n[tests]\nage = 1.0\nchol = 5.0\npain = 1\nclass = 1\n")
    assert "every column has a price" in " ".join(run(capsys, "costs", "check", "all.toml", "good.csv")[1].split())


def test_a_target_with_very_many_classes_has_a_price_list_but_no_tree(capsys, tmp_path):
    classes = [f"c{i // 2}" for i in range(20_000)]
    table = write(tmp_path / "many.csv", "x,y\n" + "".join(f"{i % 7},{label}\n" for i, label in enumerate(classes)))
    prices = tmp_path / "costs.toml"
    assert run(capsys, "costs", "init", table, "--target", "y", "-o", prices)[0] == 0
    assert ww.Costs.read(prices).errors == 10.0
    code, out, _ = run(capsys, "costs", "check", prices, table, "--target", "y")
    assert (code, "every test has a price" in out) == (0, True)
    code, _, err = run(capsys, "learn", table, "--target", "y", "--costs", prices, "-o", tmp_path / "m.json")
    assert (code, "10,000 classes" in err, "at most 4,096 are supported" in err) == (2, True, True)


def test_every_commented_example_of_the_starter_is_right(capsys, folder, tmp_path):
    """Each line of the starter that is an example, uncommented on its own, gives a price list that can be read."""
    run(capsys, "costs", "init", folder / "heart.csv", "--target", "class", "-o", tmp_path / "costs.toml")
    text = (tmp_path / "costs.toml").read_text()
    examples = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   age = ")]
    assert len(examples) == 9
    for word in ("group", "delayed", "requires", '["blood", "panel"]', "wait", "truth", "result", "where", "after"):
        assert any(word in example for example in examples)
    for example in examples:
        changed = text.replace("\nage = 1.0\n", f"\n{example}\n")
        for group in ("blood", "panel"):
            if f'"{group}"' in example:
                changed = changed.replace("# [groups]\n", "[groups]\n").replace(f"# {group} =", f"{group} =")
        (tmp_path / "changed.toml").write_text(changed)
        assert ww.Costs.read(tmp_path / "changed.toml").tests["age"] != ww.Test(1.0)
    for waiting in ("waiting = 2.5", "waiting = [[0, 0], [24, 10], [72, 200]]"):
        (tmp_path / "changed.toml").write_text(text.replace(f"# {waiting}\n", f"{waiting}\n"))
        assert ww.Costs.read(tmp_path / "changed.toml").waiting != 0
