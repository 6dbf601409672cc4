"""Measure Weka's CostSensitiveClassifier over J48 in the trials of Ting's experiments.

Usage::

    python benchmarks/weka_costs.py --data folder --cells cells.csv [--trials 10] [--only glass]

Needs a JDK of version 11 or later and Weka 3 (Debian: ``apt install weka default-jdk-headless``). There are two
learners: *Weka, reweighted* grows J48's tree on cases that weigh what their wrong answers cost together, as C4.5CS
does; *Weka, least cost* grows J48's tree as it is and answers what has the least expected cost. They learn from the
folds of `worthwhile reproduce ting` and have the same cost matrices. All classes of a data set are declared, those that
a fold has no case of, too: then the matrix is that of our learners.

Finished cells go to the file at once, and are not measured again. It is like the file that `worthwhile reproduce ting`
keeps; the cells of ``src/worthwhile/experiments/published/ting-cells.csv`` are in the table ``ting-learners``.
*Seconds* are those of learning, in one Java process, which is slower at its beginning.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from weka import OPTIONS, Header, find_weka, java_command, weka_missing, weka_version, write_arff

from worthwhile.experiments.engine import Cell, Numbers, Store, _check_data, _chosen, text_of
from worthwhile.experiments.problems import CaseSet
from worthwhile.experiments.ting_cells import DATA, FAMILY, answer_costs, cell_of, matrix_of, parts

PROGRAM = Path(__file__).with_name("WekaCosts.java")
LEARNERS = {"Weka, reweighted": "reweight", "Weka, least cost": "least-cost"}
PARAMETERS = text_of({"confidence": 0.25, "min_cases": 2})
# A matrix whose orientation matters: calling an "a" a "b" costs 9. There are 30 cases of "a" and 70 of "b".
SKEWED, SKEWED_CASES = np.array([[0.0, 9.0], [1.0, 0.0]]), ["a"] * 30 + ["b"] * 70


class Weka:
    """A Java process that trains on request; its files are in a folder."""

    def __init__(self, java: str, jar: Path, folder: Path) -> None:
        self._train, self._test = folder / "train.arff", folder / "test.arff"
        self._process = subprocess.Popen(
            java_command(java, jar, str(PROGRAM), *OPTIONS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def write(self, train: CaseSet, test: CaseSet) -> None:
        """Write the files of a trial."""
        header = Header.learn(frame(train), train.classes, train.nominal)
        for path, cases in ((self._train, train), (self._test, test)):
            write_arff(path, header, frame(cases), cases.y)

    def train(self, method: str, matrix: npt.NDArray[np.float64]) -> tuple[int, float, npt.NDArray[np.intp]]:
        """Train on the files; return the size of the tree, the training time, and the predicted class indices."""
        costs = "[" + "; ".join(" ".join(map(str, row)) for row in matrix.tolist()) + "]"
        try:
            print(method, self._train, self._test, costs, sep="\t", file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline().split()
        except BrokenPipeError:
            answer = []
        if not answer:
            raise SystemExit("Weka failed; see the output of Java above")
        nodes, seconds, *given = answer
        return int(nodes), float(seconds), np.array(given, dtype=np.intp)

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):  # it failed, which was reported
            self._process.stdin.close()
        self._process.wait()


def frame(cases: CaseSet) -> pd.DataFrame:
    """Return the columns of the cases, nominal values as strings or None, and numbers or NaN."""
    nominal = set(cases.nominal)
    columns = zip(cases.columns, cases.X.T, strict=True)
    return pd.DataFrame({name: pd.Series(x, dtype=object if name in nominal else float) for name, x in columns})


def check_orientation(weka: Weka) -> None:
    """Stop if the rows of Weka's cost matrix are not the true classes: both learners must avoid the expensive error."""
    y = np.array(SKEWED_CASES)
    cases = CaseSet(np.zeros((len(y), 1)), y, [], ["x"], ["a", "b"])
    weka.write(cases, cases)
    for method in LEARNERS.values():
        for matrix, wanted in ((SKEWED, 0), (SKEWED.T, 1)):
            given = weka.train(method, matrix)[2]
            if not (given == wanted).all():
                raise SystemExit(f"this Weka ({method}) does not have the true classes in the rows of a cost matrix")


def measure(weka: Weka, cell: Cell, test: CaseSet) -> Numbers:
    """Train in the trial whose files were written, and measure as for all learners."""
    matrix = matrix_of(cell.data, test.classes, cell.split)
    nodes, seconds, given = weka.train(LEARNERS[cell.learner], matrix)
    answers = np.array(test.classes)[given]
    return {**answer_costs(test.y, answers, test.classes, matrix), "nodes": nodes, "seconds": seconds}


def all_cells(trials: int) -> list[Cell]:
    """Return the cells of both learners, quick data sets first."""
    names = sorted(DATA, key=lambda name: DATA[name].effort)
    trial = (cell_of(name, "c45", split) for name in names for split in range(trials))
    return [replace(cell, learner=name, parameters=PARAMETERS) for cell in trial for name in LEARNERS]


def run(weka: Weka, cells: Sequence[Cell], store: Store, folder: str) -> None:
    """Measure cells, trial by trial, and print progress after each data set."""
    done = 0
    for name, of_data in itertools.groupby(cells, key=lambda cell: cell.data):
        start = time.perf_counter()
        for split, of_trial in itertools.groupby(of_data, key=lambda cell: cell.split):
            train, test = parts(name, split, folder)
            weka.write(train, test)
            for cell in of_trial:
                store.add(cell, measure(weka, cell, test))
                done += 1
        print(f"{name}: {time.perf_counter() - start:.0f} s; {done} of {len(cells)} cells", file=sys.stderr, flush=True)


def main() -> None:
    """Measure the missing cells."""
    parser = argparse.ArgumentParser(description="Measure Weka's cost-sensitive J48 in the trials of Ting (1998).")
    parser.add_argument("--data", required=True, help="folder of the data sets")
    parser.add_argument("--cells", required=True, type=Path, help="file of finished cells, which is extended")
    parser.add_argument("--trials", type=int, default=10, help="number of trials (default: %(default)s)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="run only this data set or learner")
    given = parser.parse_args()
    found = find_weka()
    if found is None or shutil.which("javac") is None:  # Java needs a compiler to run a source file
        raise SystemExit(weka_missing("default-jdk-headless"))
    try:
        store = Store(given.cells, FAMILY)
        cells = [cell for cell in _chosen(all_cells(given.trials), given.only) if cell not in store.results]
        _check_data(FAMILY, dict.fromkeys(cell.data for cell in cells), given.data)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    print(f"{weka_version(*found)}: {len(cells)} cells to measure", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        weka = Weka(*found, Path(folder))
        try:
            check_orientation(weka)
            run(weka, cells, store, given.data)
        finally:
            weka.close()


if __name__ == "__main__":
    main()
