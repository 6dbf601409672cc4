"""Compare C45Classifier with J48, Weka's re-implementation of C4.5 release 8, on the same folds.

Usage::

    WORTHWHILE_DATA=folder python benchmarks/j48.py [--out docs/results/j48.md] [--sets iris,vote]

Needs Java and Weka 3 (Debian: ``apt install weka default-jre``). Both learners see the same ten stratified folds. Each
fold is written as two ARFF files that declare exactly the nominal values and classes of the training part, since that
is what our learner knows of; a value of the test part that was not seen in training is written as missing, which is how
our learner treats it, and a test case of a class that was not seen in training is an error of both.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from common import provenance
from sklearn.model_selection import StratifiedKFold
from weka import J48, OPTIONS, Header, find_weka, java_command, weka_missing, weka_version, write_arff

import worthwhile as ww

FOLDS, SEED = 10, 1
REPEATS, SHORTEST = 3, 0.05  # of the timings; seconds, below which J48's own clock is too coarse
ACCURACY_BOUND, SIZE_BOUND = 0.5, 10.0  # points; percent

# Every classification set of the collection with at most 20,000 cases, one variant of each.
# fmt: off
SETS = (
    "abalone", "allhypo_weka", "annealing", "breast_cancer", "breast_wisconsin", "bupa", "car", "credit_approval_crx",
    "dna_statlog", "echocardiogram", "german_credit", "glass", "heart", "heart_statlog", "hepatitis", "horse_colic",
    "hypothyroid", "ionosphere", "iris", "letter", "lymphography", "monks1_train", "monks2_train", "monks3_train",
    "mushroom", "nursery", "optdigits", "pima", "satimage", "sick_euthyroid", "solar_flare1", "sonar",
    "soybean_large", "splice", "tae", "thyroid_ann_train", "tic_tac_toe", "titanic", "vote", "vowel", "waveform40",
    "wdbc", "wine",
)
# fmt: on

# Why sets differ, found by putting J48's rules into a copy of our core (spacing: by multiplying the column). What is
# said of a set is what it took until both learners had trees of the same size and the same answers to all test cases in
# all ten folds.
CAUSES = (
    "**deviate**: for a confidence of 0.25 we interpolate in Quinlan's table of normal deviates, as "
    "C4.5 does, and get 0.6925. J48 computes the exact quantile, 0.6745. Where two estimates of "
    "errors are almost equal, one learner prunes and the other does not.",
    "**middle**: a threshold is the largest value of the column that is not above the middle of two "
    "neighbours. Where a value lies exactly in the middle, the binary rounding of the middle decides "
    "for us; J48 compares with a slack of 1e-6 and takes the value.",
    "**spacing**: J48 does not cut between values that are 1e-5 or less apart. It then also counts "
    "fewer cuts tried, so that the release-8 correction takes less from the gain of such a column.",
)
EXPLAINED = {
    "abalone": (
        "deviate, middle",
        "8 folds differ, in 8 of 4,177 answers. Lengths are multiples of 0.005 and weights of "
        "0.0005, so that many middles are values of the column; our threshold is then one value lower"
        " than J48's where the middle was rounded down.",
    ),
    "annealing": ("deviate", "1 fold differs, no answer does."),
    "breast_wisconsin": ("deviate", "3 folds differ, no answer does."),
    "bupa": ("deviate", "1 fold differs, no answer does."),
    "car": ("deviate", "1 fold differs, in one answer."),
    "dna_statlog": ("deviate", "1 fold differs, in one answer."),
    "german_credit": ("deviate", "2 folds differ, in two answers; one of ours is right and one of J48's."),
    "glass": (
        "spacing, deviate, middle",
        "6 folds differ, in eight answers. The refractive index RI has five decimals, many of its "
        "values lie 1e-5 apart. With RI multiplied by 1,000 for both learners, 2 folds differ, and "
        "none once the other two causes are removed.",
    ),
    "heart": ("deviate", "2 folds differ, in one answer."),
    "heart_statlog": (
        "deviate",
        "1 fold differs: J48 replaces a test of thal by its branch thal ≤ 3, we keep the test. We give two "
        "test cases with thal > 3 another answer, which is wrong: that is the whole difference of"
        " accuracy.",
    ),
    "letter": ("deviate", "10 folds differ, in 10 of 20,000 answers."),
    "optdigits": ("deviate", "5 folds differ, in two answers."),
    "pima": ("deviate", "1 fold differs, no answer does."),
    "satimage": ("deviate", "6 folds differ, in three answers."),
    "splice": ("deviate", "1 fold differs, no answer does."),
    "thyroid_ann_train": ("deviate", "1 fold differs, no answer does."),
    "waveform40": ("deviate", "3 folds differ, no answer does."),
}


@dataclass(frozen=True)
class Fold:
    """One split of a data set, the same for both learners."""

    X_train: pd.DataFrame
    y_train: npt.NDArray[np.str_]
    X_test: pd.DataFrame
    y_test: npt.NDArray[np.str_]


@dataclass(frozen=True)
class Score:
    """The result of a learner on one fold."""

    correct: int
    nodes: int


@dataclass(frozen=True)
class Row:
    """The means of both learners on one data set."""

    name: str
    cases: int
    accuracy: tuple[float, float]  # percent of all cases: ours, J48
    nodes: tuple[float, float]  # mean of the folds: ours, J48

    @property
    def difference(self) -> float:
        """Our accuracy minus J48's, in percentage points."""
        return self.accuracy[0] - self.accuracy[1]

    @property
    def ratio(self) -> float:
        """Our tree size divided by J48's."""
        return self.nodes[0] / self.nodes[1]


def folds(data: ww.datasets.Dataset) -> list[Fold]:
    """Split a data set into stratified folds."""
    divider = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    with warnings.catch_warnings():
        # Some sets have classes of fewer than ten cases; each of their cases is in another fold.
        warnings.filterwarnings("ignore", message="The least populated class")
        parts = list(divider.split(data.X, data.y))
    return [Fold(data.X.iloc[a], data.y[a], data.X.iloc[b], data.y[b]) for a, b in parts]


def ours(fold: Fold) -> Score:
    """Train and test our C4.5."""
    learner = ww.C45Classifier(mdl_correction=True, confidence=0.25, min_cases=2, cross_fit=False).fit(
        fold.X_train, fold.y_train
    )
    return Score(int((learner.predict(fold.X_test) == fold.y_test).sum()), learner.tree_.n_nodes)


def run_j48(java: str, jar: Path, *words: str) -> str:
    """Run J48 on files and return what it printed."""
    command = java_command(java, jar, J48, *words, *OPTIONS)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or "Size of the tree" not in done.stdout:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def printed(label: str, text: str, default: str | None = None) -> float:
    """Return the number that J48 printed after a label."""
    found = re.findall(rf"^{label}[\s:]+([\d.]+)", text, re.MULTILINE) or [default]
    if found[0] is None:
        raise SystemExit(f"there is no {label!r} in J48's output:\n{text}")
    return float(found[0])


def j48(java: str, jar: Path, folder: Path, fold: Fold) -> Score:
    """Train and test J48."""
    train, test = folder / "train.arff", folder / "test.arff"
    header, known = Header.learn(fold.X_train, np.unique(fold.y_train)), np.isin(fold.y_test, fold.y_train)
    write_arff(train, header, fold.X_train, fold.y_train)
    write_arff(test, header, fold.X_test.loc[known], fold.y_test[known])
    text = run_j48(java, jar, "-t", str(train), "-T", str(test), "-v")
    correct = printed("Correctly Classified Instances", text, default="0")  # no such line if every answer is wrong
    return Score(int(correct), int(printed("Size of the tree", text)))


def compare(name: str, other: Callable[[Fold], Score]) -> Row:
    """Run both learners over the folds of a data set."""
    data = ww.datasets.load(name, as_frame=True)
    parts = folds(data)
    scores = [(ours(fold), other(fold)) for fold in parts]
    n = len(data.y)
    right = [100 * sum(pair[who].correct for pair in scores) / n for who in (0, 1)]
    nodes = [float(np.mean([pair[who].nodes for pair in scores])) for who in (0, 1)]
    return Row(name, n, (right[0], right[1]), (nodes[0], nodes[1]))


# ---- the report -----------------------------------------------------------------------------------------------------


def bound(value: float, limit: float, unit: str) -> str:
    """Return whether a deviation is within its bound."""
    return f"{value:+.2f} {unit}, wanted within ±{limit:g} {unit}: **{'met' if abs(value) <= limit else 'NOT met'}**"


def report(rows: list[Row], java: str, jar: Path) -> str:
    """Write the results as Markdown."""
    accuracy = np.mean([row.accuracy for row in rows], axis=0)
    nodes = np.mean([row.nodes for row in rows], axis=0)
    ratios = np.array([row.ratio for row in rows])
    lines = [
        "# C4.5 against Weka's J48",
        "",
        f"`C45Classifier(mdl_correction=True)` and J48 with the options `{' '.join(OPTIONS)}` on the same {FOLDS}"
        " stratified",
        f"folds (shuffled, seed {SEED}) of {len(rows)} data sets. Accuracy is the percentage of right answers over all",
        "folds, tree size the mean number of nodes, leaves included. Difference = ours − J48's; ratio = ours / J48's.",
        "",
        provenance(weka_version(java, jar)),
        "",
        "## Over all sets",
        "",
        f"- mean accuracy: {bound(float(accuracy[0] - accuracy[1]), ACCURACY_BOUND, 'points')}",
        f"- mean tree size: {bound(100 * float(nodes[0] / nodes[1] - 1), SIZE_BOUND, '%')}",
        f"- mean of the size ratios: {bound(100 * float(ratios.mean() - 1), SIZE_BOUND, '%')}",
        f"- largest difference of accuracy on one set: {max((row.difference for row in rows), key=abs):+.2f} points;"
        f" size ratios from {ratios.min():.2f} to {ratios.max():.2f}",
        "",
        "| set | cases | accuracy ours | J48 | difference | size ours | J48 | ratio |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {r.name} | {r.cases} | {r.accuracy[0]:.2f} | {r.accuracy[1]:.2f} | {r.difference:+.2f}"
            f" | {r.nodes[0]:.1f} | {r.nodes[1]:.1f} | {r.ratio:.2f} |"
            for r in rows
        ),
        f"| **mean** | | {accuracy[0]:.2f} | {accuracy[1]:.2f} | {accuracy[0] - accuracy[1]:+.2f}"
        f" | {nodes[0]:.1f} | {nodes[1]:.1f} | {ratios.mean():.2f} |",
        "",
    ]
    return "\n".join(lines)


def explanation(rows: list[Row]) -> str:
    """Explain the differences."""
    differing = [name for name in EXPLAINED if name in {row.name for row in rows}]
    lines = [
        "## Differences explained",
        "",
        "Three differences of design account for every difference in these folds. J48's deviate and middle were put,",
        "alone and together, into a copy of our core; spacing was taken away by multiplying glass's RI by 1,000. With",
        "the causes named for a set removed, both learners have trees of the same size and the same answers to all",
        "test cases in all ten folds. Sets that are not named agree in size and in all answers as they are.",
        "",
        *(f"- {text}" for text in CAUSES),
        "",
        "Three others were tried and explain nothing here: 0.67·(N − e) against J48's N − e for leaves that are almost",
        "all errors, J48's slack of 1e-6 between gains and gain ratios, and nominal tests without gain, which J48",
        "counts in the average gain.",
        "",
        "| set | causes | what differs |",
        "|---|---|---|",
        *(f"| {name} | {EXPLAINED[name][0]} | {EXPLAINED[name][1]} |" for name in differing),
        "",
    ]
    return "\n".join(lines)


# ---- speed, for speed.py ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Enlarged:
    """A nominal data set, its rows repeated."""

    name: str
    times: int
    noise: float = 0.0  # share of the cases with a random class

    def load(self) -> Fold:
        """Return all cases, numbers as nominal values, for training."""
        data = ww.datasets.load(self.name, as_frame=True)
        X = data.X.apply(lambda column: column if column.name in data.nominal else column.map("{:g}".format))
        X = pd.concat([X] * self.times, ignore_index=True).astype("category")
        y = np.tile(data.y, self.times)
        rng = np.random.default_rng(SEED)
        drawn = rng.random(len(y)) < self.noise
        y[drawn] = rng.choice(np.unique(data.y), size=drawn.sum())
        return Fold(X, y, X, y)


ENLARGED = (
    Enlarged("tic_tac_toe", 50),
    Enlarged("car", 50),
    Enlarged("splice", 5),
    Enlarged("mushroom", 10),
    Enlarged("nursery", 5),
    Enlarged("krk", 1),
    Enlarged("nursery", 20, noise=0.05),
    Enlarged("krk", 8, noise=0.05),
)


def speed_row(source: Enlarged, java: str, jar: Path, folder: Path) -> str:
    """Time both learners alternately on one data set, and return the row of the table."""
    cases = source.load()
    train = folder / "train.arff"
    write_arff(train, Header.learn(cases.X_train, np.unique(cases.y_train)), cases.X_train, cases.y_train)
    learner = ww.C45Classifier(mdl_correction=True, cross_fit=False)
    best, size = [math.inf, math.inf], 0
    for _ in range(REPEATS):
        start = time.perf_counter()
        learner.fit(cases.X_train, cases.y_train)
        best[0] = min(best[0], time.perf_counter() - start)
        text = run_j48(java, jar, "-t", str(train), "-no-cv")
        best[1] = min(best[1], printed("Time taken to build model", text))
        size = int(printed("Size of the tree", text))
    print(f"{source.name}: {best[0]:.4f} s, J48 {best[1]:.2f} s", file=sys.stderr)
    ratio = f"{best[0] / best[1]:.3f}" if best[1] >= SHORTEST else f"J48 took less than {SHORTEST} s"
    note = f" × {source.times}" if source.times > 1 else ""
    note += f", {100 * source.noise:g} % noise" if source.noise else ""
    n, d = cases.X_train.shape
    return f"| {source.name}{note} | {n:,} | {d} | {ratio} | {learner.tree_.n_nodes} / {size} |"


def speed_table() -> str:
    """Return the section of speed.py's report that compares the time to learn from nominal data with J48's."""
    title = "## Nominal data against J48\n\n"
    found = find_weka()
    if found is None:
        return f"{title}Skipped: {weka_missing()}.\n"
    absent = sorted({source.name for source in ENLARGED} - set(ww.datasets.names()))
    if absent:
        return f"{title}Skipped: the folder WORTHWHILE_DATA with the data sets {', '.join(absent)} is missing.\n"
    with tempfile.TemporaryDirectory() as folder:
        rows = [speed_row(source, *found, Path(folder)) for source in ENLARGED]
    return title + "\n".join(
        [
            f"`C45Classifier(mdl_correction=True)`, one thread, against J48 `{' '.join(OPTIONS)}`"
            f" ({weka_version(*found)}):",
            f"pruned trees, all columns nominal, minimum of {REPEATS} repeats by turns. Ours is the whole of `fit` on",
            "a pandas frame; J48's is the time that it reports itself, without the start of Java and the reading of",
            "the file. Rows are repeated (×) because J48 reports hundredths of a second. Noise: share of cases",
            "with a random class. Trees of different size are due to the normal deviate of [j48.md](j48.md).",
            "",
            "| set | cases | tests | fit, ours : J48 | nodes ours / J48 |",
            "|---|---:|---:|---:|---:|",
            *rows,
            "",
        ]
    )


def main() -> None:
    """Compare, print progress on stderr, write the report."""
    parser = argparse.ArgumentParser(description="Compare C45Classifier with Weka's J48 on the same folds.")
    parser.add_argument("--out", type=Path, help="file to write the report to (default: standard output)")
    parser.add_argument("--sets", default=",".join(SETS), help="names of data sets, comma separated (default: all)")
    given = parser.parse_args()
    found = find_weka()
    if found is None:
        print(f"skipped: {weka_missing()}", file=sys.stderr)
        return
    java, jar = found
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.sets.split(","):
            row = compare(name, lambda fold: j48(java, jar, Path(folder), fold))
            print(
                f"{name}: accuracy {row.difference:+.2f} points, size {row.nodes[0]:.1f} / {row.nodes[1]:.1f}",
                file=sys.stderr,
            )
            rows.append(row)
    text = report(rows, java, jar) + "\n" + explanation(rows)
    if given.out is None:
        print(text)
    else:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
