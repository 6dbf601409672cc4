"""Running experiments: finished cells are kept, and the numbers do not depend on how they are run."""

import gzip
import os

import joblib
import pytest

import worthwhile
from small_experiments import FAMILY, RAN, experiment
from worthwhile import experiments
from worthwhile.experiments.engine import Store, _open_locked, locked, run


@pytest.fixture(autouse=True)
def nothing_ran():
    RAN.clear()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cells.csv", FAMILY)


def test_finished_cells_are_not_run_again(tmp_path, store):
    first, both = experiment("a", "x"), experiment("b", "x", "y")
    results = run([first], store)
    assert len(results) == len(RAN) == 4
    again = run([first, both], Store(store.path, FAMILY))
    assert [cell.learner for cell in RAN] == ["x"] * 4 + ["y"] * 4
    assert {cell: again[cell] for cell in results} == results  # to the last digit
    assert len(run([both], Store(store.path, FAMILY))) == 8
    assert len(RAN) == 8


def test_what_is_finished_when_it_stops_is_kept(store):
    told = []
    with pytest.raises(KeyboardInterrupt):
        run([experiment("a", "stopped")], store, tell=lambda now, *_: told.append(now))
    assert [cell.split for cell in RAN] == [3, 2]  # the heavier first
    assert (told[-1].done, told[-1].total) == (1, 4)
    kept = Store(store.path, FAMILY).results
    assert [cell.split for cell in kept] == [3]


@pytest.mark.parametrize("lost", [1, 5, 30])
def test_an_incomplete_line_is_dropped(store, lost):
    grid = experiment("a", "x")
    whole = run([grid], store)
    content = store.path.read_bytes()
    store.path.write_bytes(content[:-lost])
    RAN.clear()
    assert run([grid], Store(store.path, FAMILY)) == whole
    assert [cell.split for cell in RAN] == [0]  # the lightest, which came last
    assert store.path.read_bytes() == content
    store.path.write_bytes(content[:7])  # not even the header is whole
    assert Store(store.path, FAMILY).results == {}
    assert run([grid], Store(store.path, FAMILY)) == whole
    assert store.path.read_bytes() == content


def test_cells_of_other_versions_are_left_alone(store, monkeypatch):
    grid = experiment("a", "x")
    run([grid], store)
    monkeypatch.setattr("worthwhile.experiments.engine.__version__", "999")
    RAN.clear()
    run([grid], Store(store.path, FAMILY))
    assert len(RAN) == 4
    versions = [line.split(",")[0] for line in store.path.read_text().splitlines()]
    assert versions == ["version", *[worthwhile.__version__] * 4, *["999"] * 4]


def test_other_files_are_not_touched(store):
    store.path.write_text("name,price\nage,1\n")
    with pytest.raises(ValueError, match=r"cells\.csv: is not a file of finished cells"):
        Store(store.path, FAMILY)
    assert store.path.read_text() == "name,price\nage,1\n"


def test_a_line_that_is_no_cell_is_named(store):
    run([experiment("a", "x")], store)
    lines = store.path.read_text().splitlines()
    store.path.write_text("\n".join([*lines[:2], lines[2].replace(",0.5", ",half"), *lines[3:], ""]))
    with pytest.raises(ValueError, match=r"cells\.csv, line 3: is not a finished cell"):
        Store(store.path, FAMILY)


def test_the_numbers_do_not_depend_on_how_it_is_run(tmp_path):
    grid = [experiment("a", "x", "slow")]
    alone = run(grid, Store(tmp_path / "1.csv", FAMILY), jobs=1)
    assert run(grid, Store(tmp_path / "2.csv", FAMILY), jobs=2) == alone
    with joblib.parallel_config("threading", n_jobs=3):
        assert run(grid, Store(tmp_path / "3.csv", FAMILY)) == alone
    lines = [set((tmp_path / f"{n}.csv").read_text().splitlines()) for n in (1, 2, 3)]
    assert lines[0] == lines[1] == lines[2]


def test_progress_is_told_by_weight_and_by_experiment(store):
    told = []
    run([experiment("a", "x"), experiment("b", "x", "slow")], store, tell=lambda *now: told.append(now))
    assert [(name, now.done) for now, name, _ in told] == [("a", n) for n in range(5)] + [("b", n) for n in range(5, 9)]
    assert {now.total for now, *_ in told} == {8}
    assert [share for *_, share in told] == pytest.approx([n / 52 for n in (0, 3, 5, 6, 6, 19, 31, 42, 52)])
    told.clear()
    run([experiment("b", "slow")], store, tell=lambda *now: told.append(now))
    assert [(name, now.done, now.total, share) for now, name, share in told] == [("b", 0, 0, 0.0)]


def test_an_error_names_its_cell(store):
    with pytest.raises(ZeroDivisionError) as caught:
        run([experiment("a", "broken")], store)
    assert "learner='broken'" in caught.value.__notes__[0]


def test_missing_data_are_told_before_anything_runs(store):
    with pytest.raises(ValueError, match="there is no lost in /data"):
        run([experiment("a", "x"), experiment("b", "x", data="lost")], store, folder="/data")
    assert not RAN
    assert not store.path.exists()


def test_reproduce_writes_everything_and_goes_on(tmp_path, monkeypatch):
    tables = {"a": experiment("a", "x"), "b": experiment("b", "x", "y")}
    monkeypatch.setattr(experiments, "EXPERIMENTS", tables)
    monkeypatch.setattr(experiments, "PAPERS", {"both": ["a", "b"]})
    out = tmp_path / "deep" / "out"
    made, files = experiments.reproduce("a", out, quick=True)
    assert sorted(p.name for p in out.iterdir()) == ["a-lines.png", "a.csv", "a.md", "cells-small.csv"]
    assert [t.name for t in made] == ["a"]
    assert all(p.exists() for p in files)
    assert "quick version" in (out / "a.md").read_text()
    experiments.reproduce("both", out)
    assert len(RAN) == 8  # two of the quick ones are among them
    page = (out / "both.md").read_text()
    assert "About a" in page
    assert "About b" in page
    assert "8 cells" in page
    assert page.count("As usual.") == 1
    assert "quick version" not in page
    with pytest.raises(ValueError, match="there is no experiment 'c'; valid names: both, a, b"):
        experiments.reproduce("c", out)


def test_a_compressed_file_of_cells(tmp_path):
    path, grid = tmp_path / "cells.csv.gz", experiment("a", "x")
    results = run([grid], Store(path, FAMILY))
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert len(lines) == 1 + 4
    RAN.clear()
    assert run([grid], Store(path, FAMILY)) == results
    assert not RAN
    packed = path.read_bytes()
    assert packed == gzip.compress(gzip.decompress(packed), mtime=0)  # packed again, the same bytes everywhere
    run([experiment("b", "y")], Store(path, FAMILY))
    path.write_bytes(path.read_bytes()[:-30])  # as a killed process leaves it
    RAN.clear()
    assert len(run([grid, experiment("b", "y")], Store(path, FAMILY))) == 8
    assert [(cell.learner, cell.split) for cell in RAN] == [("y", 0)]
    assert len(gzip.decompress(path.read_bytes()).splitlines()) == 1 + 8
    path.write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="is not a file of finished cells"):
        Store(path, FAMILY)


def test_two_runs_do_not_use_one_file(tmp_path):
    path = tmp_path / "new" / "cells.csv"
    with locked(path):
        for _ in range(2):
            with pytest.raises(ValueError, match=r"cells\.csv: another run is using this file"), locked(path):
                pass
        with locked(tmp_path / "new" / "others.csv"):
            pass
    assert not path.parent.exists()  # nothing was written
    path.parent.mkdir()
    path.with_name(".cells.csv.lock").touch()  # left by a run that was killed
    with locked(path):
        path.write_text("something")
    assert [file.name for file in path.parent.iterdir()] == ["cells.csv"]


def test_the_lock_of_a_run_that_ends_meanwhile(tmp_path):
    lock, tries = tmp_path / "lock", []

    def acquire(number):
        tries.append(number)
        if len(tries) == 1:
            lock.unlink()  # by the run that had it

    os.close(_open_locked(lock, acquire))
    assert len(tries) == 2
    assert lock.exists()

    def without_locks(_):
        raise OSError(95, "Operation not supported")

    os.close(_open_locked(lock, without_locks))


def test_a_file_that_csv_cannot_read_is_named(store):
    store.path.write_text("x" * 200_000 + "\n")
    with pytest.raises(ValueError, match=r"cells\.csv: is not a file of finished cells"):
        Store(store.path, FAMILY)
