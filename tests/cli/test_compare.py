"""`worthwhile compare`."""

import pytest

import worthwhile as ww
from command_line import fails, read_rows
from command_line import run_joined as run


def test_compare_prints_a_table_and_writes_results_and_a_chart(capsys, folder, tmp_path):
    options = [
        "--costs",
        folder / "heart.toml",
        "--learners",
        "c45,dtmc,eg2",
        "--folds",
        "3",
        "--repeats",
        "2",
        "--jobs",
        1,
    ]
    code, out, err = run(capsys, "compare", folder / "heart.csv", "--target", "class", *options, "-o", tmp_path / "c")
    assert (code, err) == (0, "")
    assert "303 cases, 3-fold cross-validation, 2 repetitions" in out
    assert "more: extra cost compared with" in out
    assert sorted(p.name for p in (tmp_path / "c").iterdir()) == ["costs.csv", "costs.png", "folds.csv"]
    rows, folds = read_rows(tmp_path / "c" / "costs.csv"), read_rows(tmp_path / "c" / "folds.csv")
    simple = [row for row in rows if row["baseline"] == "True"]
    assert [row["learner"] for row in simple] == sorted(
        ["no test", "all tests, best plain tree", "C4.5, tuned"],
        key=lambda name: next(float(row["total_cost"]) for row in simple if row["learner"] == name),
    )
    assert "Baselines no test 0.00" in out
    assert {row["learner"] for row in rows} == set(folds[0]) - {"fold"}
    rows = rows[:3]
    totals = [float(row["total_cost"]) for row in rows]
    assert totals == sorted(totals)
    assert len(folds) == 6
    best, worst = rows[0]["learner"], rows[-1]["learner"]
    assert worst == "c45"
    pair = ww.metrics.compare({name: [float(fold[name]) for fold in folds] for name in (worst, best)})[0]
    assert float(rows[-1]["t_test"]) == pytest.approx(pair.t_test)
    assert float(rows[-1]["wilcoxon"]) == pytest.approx(pair.wilcoxon)
    assert (tmp_path / "c" / "costs.png").read_bytes().startswith(b"\x89PNG")


def test_compare_is_quiet_and_gives_searches_a_time_limit(capsys, folder, tmp_path):
    options = [
        "--learners",
        "lsid3,c45",
        "--folds",
        "2",
        "--time-limit",
        "1",
        "--jobs",
        "1",
        "-q",
        "-o",
        tmp_path / "c",
    ]
    assert run(capsys, "compare", folder / "train.csv", "--target", "class", *options) == (0, "", "")


@pytest.mark.usefixtures("good_files")
def test_wrong_options(capsys):
    compare = ["compare", "good.csv", "--target", "class", "-q", "-o", "out"]
    assert fails(capsys, *compare, "--learners", "act,atc").startswith("there is no learner 'atc'")
    assert fails(capsys, *compare, "--learners", "act") == "--learners act: a comparison needs at least two learners"
    assert "invalid folds=41" in fails(capsys, *compare, "--learners", "eg2,c45", "--folds", "41", "--jobs", 1)


def test_compare_gives_every_learner_the_cap(capsys, folder, tmp_path, monkeypatch):
    from worthwhile.evaluation import compare

    seen = {}
    original = compare.cross_compare

    def spy(made, *arguments, **options):
        seen.update({name: clf.cap for name, clf in made.items()})
        return original(made, *arguments, **options)

    monkeypatch.setattr(compare, "cross_compare", spy)
    options = ["--costs", folder / "heart.toml", "--learners", "dtmc,c45", "--folds", "2", "--cap", "20"]
    assert run(capsys, "compare", folder / "heart.csv", "--target", "class", *options, "-o", tmp_path / "out")[0] == 0
    assert seen == {"dtmc": 20, "c45": 20}
