"""Are the numbers in README's section "Results" those of the result files?

    python docs/check_numbers.py

`CLAIMS` has, for each sentence with numbers, a pattern that finds it in README, and for each group of the pattern where
the number comes from: a mean of a CSV file, a cell of a table, a number in the text of a page, or something that is
counted. Number words (two, no, all) are numbers, too. `NAMES` are numbers that measure nothing, such as those of
tables, each with its reason. A number that is in neither is an error, as is one that differs from its source when
rounded to as many digits. A source that is rounded itself says to how many digits: a number is never rounded twice.
"""

from __future__ import annotations

import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parent
README, RESULTS = DOCS.parent / "README.md", DOCS / "results"
BEGIN, END = "## Results\n", "To reproduce them:"


class Found(NamedTuple):
    """A number of a source, and to how many digits after the point it is rounded there (None: not at all)."""

    value: float
    digits: int | None = None


Source = Callable[[], Found]
# "no" and "none" count nothing; "all" and "every" are a share of 1.
WORDS = {
    word: value
    for value, words in enumerate(
        ("no none zero", "one single all every", "two both", "three", "four", "five", "six", "seven", "eight", "nine")
    )
    for word in words.split()
} | {
    "half": 0.5,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "hundred": 100,
    "once": 1,
    "twice": 2,
}
DIGITS = r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w])"
NUMBER = re.compile(rf"{DIGITS}|\b(?:{'|'.join(WORDS)})\b", flags=re.IGNORECASE)


def _write_results() -> ModuleType:
    """Load the neighbour, which reads result files."""
    spec = importlib.util.spec_from_file_location("write_results", DOCS / "write_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


results: Any = _write_results()


# ---- where numbers come from


def page(file: str) -> str:
    """Return the text of a result page."""
    return (RESULTS / file).read_text(encoding="utf-8")


def printed(number: str) -> Found:
    """Return a number as a page prints it.

    Examples
    --------
    >>> printed("0.50"), printed("5,000")
    (Found(value=0.5, digits=2), Found(value=5000.0, digits=0))
    """
    return Found(_value(number), len(number.partition(".")[2]))


def mean(file: str, table: str, row: str, column: str) -> Source:
    """Return our mean of a CSV file, which has three digits."""
    return lambda: Found(results.csv_means(RESULTS / file)[table, row, column], 3)


def text(file: str, pattern: str) -> Source:
    """Return the number that a pattern with one group finds in a page; all that it finds must be equal."""

    def read() -> Found:
        found = {printed(number) for number in re.findall(pattern, page(file))}
        if len(found) != 1:
            raise ValueError(f"{file}: {pattern!r} finds {len(found)} different numbers, not one")
        return found.pop()

    return read


def named(file: str, pattern: str) -> Source:
    """Return how many names, divided by commas and "and", the group of a pattern finds in a page."""

    def read() -> Found:
        found = set(re.findall(pattern, page(file)))
        if len(found) != 1:
            raise ValueError(f"{file}: {pattern!r} finds {len(found)} different lists, not one")
        return Found(len(re.split(r", | and ", found.pop())))

    return read


def says(file: str, phrase: str) -> Source:
    """Return 1 if a page has a phrase, for "all" and "every", otherwise 0."""
    return lambda: Found(float(phrase in page(file)))


def counted(count: Callable[[], float]) -> Source:
    """Return what is counted or computed from files, which is not rounded."""
    return lambda: Found(float(count()))


def ratio(file: str, title: str, row: str, column: str) -> list[Source]:
    """Return a ratio in a table of a page, and the ends of its interval."""

    def part(number: int) -> Source:
        return lambda: printed(
            re.findall(r"\d+\.\d+", results.rows_below(page(file), title)[row][column])[number],
        )

    return [part(0), part(1), part(2)]


def overview(family: str, ours: str) -> list[Source]:
    """Return the ratio of a line of the overview that is made from cells, and the ends of its interval."""

    def part(name: str) -> Source:
        def read() -> Found:
            lines = [line for line in results.overview() if line.family == family and line.ours == ours]
            return Found(float(getattr(lines[0].ratio, name)))

        return read

    return [part("mean"), part("low"), part("high")]


def ends(file: str, title: str, column: str) -> list[Source]:
    """Return the least and the largest number of a column of a table."""

    def numbers() -> list[Found]:
        return [
            printed(row[column])
            for row in results.rows_below(page(file), title).values()
            if row[column] not in ("–", "1")
        ]

    return [lambda: min(numbers()), lambda: max(numbers())]


def turney_averages() -> dict[str, int]:
    """Count the printed averages of Turney's tables, in all and without repetitions."""
    rows = [row for row in results.csv_rows(RESULTS / "turney.csv") if row["published_interval"] and row["mean"]]
    distinct = {(row["mean"], row["published"], row["published_interval"]): row for row in rows}
    inside = [row for row in distinct.values() if row["inside"] == "yes"]
    far = [
        row
        for row in inside
        if abs(float(row["mean"]) - float(row["published"])) > float(row["published_interval"]) + 1e-9
    ]
    return {"printed": len(rows), "distinct": len(distinct), "inside": len(inside), "by rounding": len(far)}


def esmeir_averages(table: str) -> tuple[int, int]:
    """Count the printed averages of a table that have an interval, and those of them within which ours is."""
    rows = [
        row
        for row in results.csv_rows(RESULTS / "esmeir.csv")
        if row["table"] == table and row["published_interval"] and row["mean"]
    ]
    inside = [
        row
        for row in rows
        if abs(round(float(row["mean"]), 1) - float(row["published"])) <= float(row["published_interval"]) + 1e-9
    ]
    return len(rows), len(inside)


def below_refined() -> int:
    """Count the error costs at which a row of Esmeir's table 1 costs less than the refined ACT."""
    means = results.csv_means(RESULTS / "esmeir.csv")
    ours = {
        column: cost
        for (table, row, column), cost in means.items()
        if (table, row) == ("esmeir-table1", "ACT, refined")
    }
    return sum(
        cost < ours[column] for (table, _, column), cost in means.items() if table == "esmeir-table1" and column in ours
    )


def refined_wins(title: str, row: str, name: str) -> int:
    """Count the error costs at which Wilcoxon's test says that a learner is better."""
    return sum(cell.startswith(f"{name} (") for cell in results.rows_below(page("esmeir.md"), title)[row].values())


def lsid3_ahead() -> int:
    """Count the error costs of 5,000 and 10,000 at which LSID3 costs less than ACT here, but not in the paper."""
    rows = {
        (row["row"], row["column"]): row
        for row in results.csv_rows(RESULTS / "esmeir.csv")
        if row["table"] == "esmeir-table1"
    }
    return sum(
        float(rows["LSID3", column]["mean"]) < float(rows["ACT", column]["mean"])
        and float(rows["LSID3", column]["published"]) > float(rows["ACT", column]["published"])
        for column in ("5000", "10000")
    )


def rank_budgets() -> int:
    """Count the budgets at which LightGBM's penalties rank better than our forest."""
    found = re.search(r"our forest at (\d+) of", results.ranking())
    assert found is not None
    return int(found[1])


def nan_means() -> dict[tuple[str, str, str], float]:
    """Return our means of the experiments of Nan, Wang and Saligrama."""
    found: dict[tuple[str, str, str], float] = results.csv_means(RESULTS / "nan.csv")
    return found


def farthest_from_published(row: str) -> float:
    """Return the largest difference from a published number in a row of Nan's table 1."""
    rows = [
        each for each in results.csv_rows(RESULTS / "nan.csv") if (each["table"], each["row"]) == ("nan-table1", row)
    ]
    return max(abs(float(each["mean"]) - float(each["published"])) for each in rows)


def not_cheaper() -> int:
    """Count the problems of another cost in which ours does not cost less than pystreed's."""
    pairs = re.findall(r"ours (\d+(?:\.\d+)?), pystreed (\d+(?:\.\d+)?)\n", page("exact-speed.md"))
    return sum(float(one) >= float(other) for one, other in pairs)


# ---- what README says


@dataclass(frozen=True)
class Claim:
    """A text of README in which every "#" is a number, and the sources of these numbers in their order."""

    text: str
    sources: list[Source]
    holds: Callable[[], bool] | None = None  # what must be true of the files beside the numbers

    @property
    def pattern(self) -> str:
        """The text as a pattern with a group for each number."""
        return re.escape(self.text).replace(r"\#", f"({DIGITS}|(?i:{'|'.join(WORDS)}))")


TURNEY = ("turney.csv", "turney-table5")
ALL, LOW = "10 to 10,000", "10 to 100"
HALVES = "Cost of our rows by that of the others"
AGAINST = "10 to 10,000: cost of our rows by that of the others"
OVER_PROBLEMS = "Wilcoxon's test over the problems, all"
OVER_SETS = "Wilcoxon's test over the data sets"
NAN_PROBLEMS = ("Forest, unit prices", "credit default, drawn prices", "adult, drawn prices", "letter, drawn prices")
KINDS = ("two classes", "more classes")
CLAIMS = [
    # Turney
    Claim(
        "of # printed averages, # without repetitions, # are reproduced within his intervals, # only by rounding",
        [
            counted(lambda: turney_averages()["printed"]),
            counted(lambda: turney_averages()["distinct"]),
            counted(lambda: turney_averages()["inside"] / turney_averages()["distinct"]),
            counted(lambda: turney_averages()["by rounding"]),
        ],
    ),
    Claim(
        "(binary ICET at cheap errors, # against # ± #)",
        [
            mean("turney.csv", "turney-table13", "ICET, binary", LOW),
            text("turney.md", r"ICET, binary \|[^|]*\| 48 ± 6 \| 20.8 ± 0.9 \| (\d+) ± 5"),
            text("turney.md", r"ICET, binary \|[^|]*\| 48 ± 6 \| 20.8 ± 0.9 \| 26 ± (\d+)"),
        ],
    ),
    Claim(
        "of # [orders]() # are reversed",
        [
            text("turney.md", r"\nOf (\d+) pairs of rows of a column"),
            text("turney.md", r"each counted once, (\d+) have the other order here"),
        ],
    ),
    Claim(
        "seeded and binary ICET (# and #, published # and #; at cheap errors # and #, published # and #)",
        [
            number
            for column, place in ((ALL, r"[^|]*\| (\d+) ±"), (LOW, r"[^|]*\|[^|]*\|[^|]*\| (\d+) ±"))
            for number in (
                mean("turney.csv", "turney-table14", "ICET, seeded", column),
                mean("turney.csv", "turney-table14", "ICET, binary", column),
                text("turney.md", rf"\| ICET, seeded \|{place}"),
                text("turney.md", rf"\| ICET, binary \|{place}"),
            )
        ],
    ),
    Claim(
        "In percent of the standard cost, his ICET costs # (ours as published: #, in a later run #), doing no test #,"
        " the best of scikit-learn's and pystreed's trees by cross-validation, without prices, #, the refined ICET #"
        " and the refined ACT #;",
        [
            text("turney.md", r"\| ICET \| 50.0 ± 2.2 \| (\d+) ± 7"),
            mean(*TURNEY, "ICET", ALL),
            text("turney.md", r"\| ICET \| (49\.\d) ± 1\.3 \| 49 ± 7"),
            *(mean(*TURNEY, row, ALL) for row in ("no test", "pick among peers, without prices", "ICET, refined")),
            mean(*TURNEY, "ACT, refined", ALL),
        ],
    ),
    Claim(
        "on the # splits where pystreed's trees that know prices have run, the pick costs # and the refined ACT #: # of"
        " it (# to # over the splits). Constants of the refined learners were set on other splits of the same # data"
        " sets.",
        [
            named("turney.md", r"On the splits that all rows with more than one have \((.*?)\)"),
            text("turney.md", r"\| pick among peers \| (\S+) ± \S+ \| \S+ ± \S+ \|\n"),
            text("turney.md", r"\| ACT, refined \| (\S+) ± \S+ \| \S+ ± \S+ \|\n"),
            *ratio("turney.md", AGAINST, "ACT, refined", "pick among peers"),
            named("turney.md", r"Protocol \(Turney 1995, section 4\): ([\w, ]+), prepared"),
        ],
    ),
    # Esmeir and Markovitch
    Claim(
        "# problems: of # published averages with an interval # are reproduced, # of # in table 1 and # of # in figure"
        " 14, where # of # problems have run (tables 3 and 4: # of #); of # orders # are reversed,",
        [
            text("esmeir.md", r"on all of the (\d+) problems"),
            counted(lambda: esmeir_averages("esmeir-table1")[0] + esmeir_averages("esmeir-figure14")[0]),
            counted(lambda: esmeir_averages("esmeir-table1")[1] + esmeir_averages("esmeir-figure14")[1]),
            counted(lambda: esmeir_averages("esmeir-table1")[1]),
            counted(lambda: esmeir_averages("esmeir-table1")[0]),
            counted(lambda: esmeir_averages("esmeir-figure14")[1]),
            counted(lambda: esmeir_averages("esmeir-figure14")[0]),
            text("esmeir.md", r"\n(\d+) of the 100 problems are in this table"),
            text("esmeir.md", r"\n\d+ of the (100) problems are in this table"),
            text(
                "esmeir.md",
                r"\n(\d+) of the 105 problems are in this table[^\n]*\n\n\*ACT, refined\* is finished on fewer",
            ),
            text("esmeir.md", r"\n\d+ of the (105) problems are in this table"),
            text("esmeir.md", r"\nOf (\d+) pairs of rows of a column"),
            text("esmeir.md", r"each counted once, (\d+) have the other order here"),
        ],
    ),
    Claim(
        "among them that of LSID3, which ignores prices, and ACT as published at 5,000 and 10,000, where LSID3 costs"
        " less here; of the # statements on significance in table 2, # hold.",
        [
            text("esmeir.md", r"Of the paper's (\d+) statements by .* hold; not: ICET against ACT at 5000"),
            text("esmeir.md", r"statements by Wilcoxon's test \(.*\), (\d+) hold; not: ICET against ACT at 5000"),
        ],
        holds=lambda: lsid3_ahead() == 2,
    ),
    Claim("# average is below that of the refined ACT at any error cost", [counted(below_refined)]),
    Claim(
        "(#, #, #, #, # % of the standard cost at 100 to 10,000)",
        [
            mean("esmeir.csv", "esmeir-table1", "ACT, refined", column)
            for column in ("100", "500", "1000", "5000", "10000")
        ],
    ),
    Claim(
        "but it is better than ACT as published on the # problems of Turney's data sets alone, on other splits of which"
        " its constants were set (# of it; 95 % interval over data sets # to #); on the # others, some of which were"
        " looked at for other constants, it is # better (#, # to #)",
        [
            text("esmeir.md", r"Where tuned[\s\S]*?\| (\d+) problems of Turney's data sets and 80 others"),
            *ratio("esmeir.md", HALVES, "ACT, refined, Turney's 25", "ACT"),
            text("esmeir.md", r"\| 25 problems of Turney's data sets and (80) others"),
            counted(lambda: refined_wins(OVER_PROBLEMS, "ACT against ACT, refined, 80 others", "ACT, refined")),
            *ratio("esmeir.md", HALVES, "ACT, refined, 80 others", "ACT"),
        ],
    ),
    Claim(
        "at 5,000 and 10,000 it costs more, significantly by the paper's test over problems, not over data sets.",
        [],
        holds=lambda: (
            refined_wins(OVER_PROBLEMS, "ACT against ACT, refined, 80 others", "ACT") == 2
            and refined_wins(OVER_SETS, "ACT against ACT, refined, 80 others", "ACT") == 0
        ),
    ),
    Claim(
        "Of the paper of 2006, # of its # problems have run: # of its # statements on significance hold, not that on"
        " ACT against ICET at 10,000.",
        [
            text("esmeir.md", r"\n(\d+) of the 55 problems are in this table"),
            text("esmeir.md", r"\n\d+ of the (55) problems are in this table"),
            text("esmeir.md", r"statements by Wilcoxon's test \(.*\), (\d+) hold; not: ICET against ACT at 10000"),
            text("esmeir.md", r"Of the paper's (\d+) statements by .* hold; not: ICET against ACT at 10000"),
        ],
    ),
    # pystreed
    Claim(
        "# problems at # levels of error costs",
        [
            text("streed-costs.md", r"The benchmark of pystreed \(Lomax 2013\): (\d+) problems"),
            text("streed-costs.md", r"groups of attributes, (\w+) levels of error costs"),
        ],
    ),
    Claim(
        "`OptimalClassifier` costs # of ACT (# to #) and # of pystreed's tuned trees, which know the prices (# to #)",
        [
            *ratio("streed-costs.md", "OptimalClassifier against each row", "ACT", "ratio"),
            *ratio("streed-costs.md", "OptimalClassifier against each row", "pystreed, tuned", "ratio"),
        ],
    ),
    Claim(
        "On the training cases it finds a tree of pystreed's least cost on # of #, # of # and # of # problems of depths"
        " 3, 4 and 5; of the # others, # costs more than pystreed's.",
        [
            *(
                text("exact-speed.md", rf"\n\| {depth} \|.*\| {place} \|\n")
                for depth in (3, 4, 5)
                for place in (r"(\d+) of \d+", r"\d+ of (\d+)")
            ),
            counted(lambda: len(re.findall(r"ours \S+, pystreed \S+\n", page("exact-speed.md")))),
            counted(not_cheaper),
        ],
    ),
    Claim(
        "It takes [#, # and # of its time]() (geometric means",
        [text("exact-speed.md", rf"\n\| {depth} \| \d+ \| (\S+) \|") for depth in (3, 4, 5)],
    ),
    # The default
    Claim("The default]() on # data sets", [counted(lambda: len({data for data, _ in results.default_costs()}))]),
    Claim(
        "# splits: `AutoClassifier` costs # % of the standard cost in geometric mean, the best single rival (a forest"
        " on selected tests) #: # of it (95 % interval over data sets # to #).",
        [
            text("default.md", r"\nSplits: (\d+)\."),
            counted(lambda: results.default_means()["auto"]),
            counted(lambda: results.default_means()["selected tests + forest"]),
            *overview("The default", "AutoClassifier"),
        ],
    ),
    Claim(
        "Against the best rival of each cell, chosen with hindsight, it costs # (# to #), and more than 10 % above it"
        " on # of #.",
        [
            text("default.md", r"chosen with hindsight: (\S+) \("),
            text("default.md", r"chosen with hindsight: \S+ \((\S+) to"),
            text("default.md", r"chosen with hindsight: \S+ \(\S+ to (\S+)\)"),
            text("default.md", r"more than 10 % above the best rival on (\d+) of them"),
            text("default.md", r"in geometric mean of (\d+) cells"),
        ],
    ),
    Claim(
        "Parts of it were looked at on # of these sets, where it costs # (# to #) of that rival; on the other # it"
        " costs # (# to #).",
        [
            text("default.md", r"looked at on (\d+) of the \d+ sets"),
            *(
                text("default.md", rf"cells\): there it is {part}")
                for part in (r"(\S+) \(", r"\S+ \((\S+) to", r"\S+ \(\S+ to (\S+)\)")
            ),
            named("default.md", r"On ([\w, ]+) \(12 cells\) it is"),
            *(
                text("default.md", rf"\(12 cells\) it is {part}")
                for part in (r"(\S+) \(", r"\S+ \((\S+) to", r"\S+ \(\S+ to (\S+)\)")
            ),
        ],
    ),
    # Ting
    Claim(
        "on # of his # data sets, as in the paper in arithmetic means of ratios",
        [
            text("ting.md", r"\n(\d+) of the \d+ data sets are in this table"),
            text("ting.md", r"The paper has (\d+) data sets"),
        ],
    ),
    Claim(
        "C4.5CS costs # of C4.5 with two classes and # with more (published #, #)",
        [
            mean("ting.csv", "ting-table1", "mean, two classes", "cost: ratio"),
            mean("ting.csv", "ting-table1", "mean, more classes", "cost: ratio"),
            text("ting.md", r"\| mean, two classes \| – \| – \| 0.64<br>\((\S+)\)"),
            text("ting.md", r"\| mean, more classes \| – \| – \| 1.00<br>\((\S+)\)"),
        ],
    ),
    Claim(
        "With the whole matrix of error costs it is # and #, settings chosen on other trials of # of the sets;"
        " scikit-learn's weighted and pruned tree costs # and #, Weka's CostSensitiveClassifier # and # by weights, #"
        " and # by answers of least cost.",
        [
            *(mean("ting.csv", "ting-learners", f"mean, {kind}", "full matrix, chosen") for kind in KINDS),
            named("ting.md", r"8 to 20 trials of ([\w, ]+), numbers 200 and up"),
            *(
                mean("ting.csv", "ting-learners", f"mean, {kind}", learner)
                for learner in ("scikit-learn", "Weka, reweighted", "Weka, least cost")
                for kind in KINDS
            ),
        ],
    ),
    Claim(
        "On [# of the sets](), the first # trials, `CascadeClassifier` costs # and #, its settings chosen on some of"
        " them; scikit-learn's forest costs # with a tuned threshold (two classes only), # with answers of least cost"
        " and more classes.",
        [
            counted(lambda: sum(int(n) for n in re.findall(r"\((\d) sets\)\*\*", page("ting-boosting.md")))),
            text("ting-boosting.md", r"The first (\d+) of the paper's 100 trials"),
            text("ting-boosting.md", r"mean, two classes \(9 sets\)\*\* \|.*\| (\S+) \|\n"),
            text("ting-boosting.md", r"mean, more classes \(6 sets\)\*\* \|.*\| (\S+) \|\n"),
            text("ting-boosting.md", r"mean, two classes \(9 sets\)\*\* \| \S+ \| \S+ \| \S+ \| (\S+) \|"),
            text("ting-boosting.md", r"mean, more classes \(6 sets\)\*\* \| \S+ \| \S+ \| (\S+) \|"),
        ],
    ),
    # Nan, Wang and Saligrama
    Claim(
        "its first # trees, # to # %, are within # points of those published, its errors # points above those of a"
        " random forest (published #).",
        [
            counted(lambda: sum(key[:2] == ("nan-table1", "Forest: BudgetRF") for key in nan_means())),
            mean("nan.csv", "nan-table1", "Forest: BudgetRF", "1"),
            mean("nan.csv", "nan-table1", "Forest: BudgetRF", "10"),
            counted(lambda: farthest_from_published("Forest: BudgetRF")),
            text("nan.md", r"\| Forest \| 15.44 \| 17.26 \(\+(\S+)\)"),
            text("nan.md", r"\| Forest \|.*13.64 \(\+(\S+)\)"),
        ],
    ),
    Claim("at most # training cases of our own splits;", [text("nan.md", r"but with at most ([\d,]+) training and")]),
    Claim(
        "makes no more errors than the best of # rivals at # of # budgets on covertype, # on credit default, # on adult"
        " and # on letter (# splits; behind by at most # points; parts were set on these very data sets, some after a"
        " look at test cases).",
        [
            text("nan.md", r"is below the best of (\w+) rivals"),
            text("nan.md", r"at or below the best rival at: Forest, unit prices (\d+) \("),
            text("nan.md", r"\nOf the (\d+) budgets, \*ours, forest or cascade\*"),
            *(
                text("nan.md", rf"at or below the best rival at: .*?{problem} (\d+) \(below")
                for problem in NAN_PROBLEMS[1:]
            ),
            text("nan.md", r"averages over splits \(Forest, unit prices (\d+);"),
            text("nan.md", r"behind at 100 % of the price, by (\S+) points"),
        ],
    ),
    Claim(
        "In rankings made of credit default, # split, LightGBM's penalties are better than our forest at # of #"
        " budgets.",
        [
            text("nan.md", r"\nAverages over splits: credit default, drawn prices (\d+)\."),
            counted(rank_budgets),
            counted(lambda: sum(key[0] == "nan-ranking" and "BudgetForest" in key[1] for key in nan_means())),
        ],
    ),
    # Weka, speed
    Claim(
        "on # data sets and the same folds, mean accuracy differs by # points and mean tree size by # %; # difference"
        " is explained.",
        [
            text("j48.md", r"of (\d+) data sets\."),
            text("j48.md", r"mean accuracy: -(\S+) points"),
            text("j48.md", r"mean tree size: \+(\S+) %"),
            says("j48.md", "account for every difference"),
        ],
    ),
    Claim("takes # to # of scikit-learn's time", ends("speed.md", "is divided by scikit-learn's", "fit")),
    Claim(
        "answers *and* prices # to # of its plain predict",
        ends("speed.md", "is divided by scikit-learn's", "predict with prices"),
    ),
    Claim("on nominal data # to # of J48's", ends("speed.md", "their class drawn anew", "fit, ours : J48")),
    Claim(
        "# trials of [ICET](), each growing, pruning and pricing a tree, take # to # of the time of # fits",
        [
            text("icet-speed.md", r"\n(\d+) trials of the paper's ICET"),
            *ends("icet-speed.md", "1000 trials", "trials / scikit-learn"),
            text("icet-speed.md", r"against (\d+) fits of"),
        ],
    ),
    Claim(
        "in the time of # such fit, [ACT]() samples and values # to # trees",
        [
            text("act-speed.md", r"in the time of (\w+) fit of"),
            text("act-speed.md", r"\| thyroid \| 1000 \| \S+ \| (\S+) \|"),
            text("act-speed.md", r"\| thyroid \| 30 \| \S+ \| (\S+) \|"),
        ],
    ),
    Claim(
        "take # to # of the time of scikit-learn's, depending on",
        [
            text("forest-speed.md", r"α = 45, drawn \| \S+ \| (\S+) \|"),
            text("forest-speed.md", r"α = 0, weighted \| \S+ \| (\S+) \|"),
        ],
    ),
    Claim(
        "prices # to # of its predict",
        [
            text("forest-speed.md", r"α = 45, drawn(?: \| \S+){4} \| \S+ \| (\S+) \|"),
            text("forest-speed.md", r"α = 0, weighted(?: \| \S+){4} \| \S+ \| (\S+) \|"),
        ],
    ),
]
# Numbers that measure nothing, as they stand in README, and why.
NAMES = {
    "[One table and one picture]()": "what the page has, not a measurement",
    "tables 5 to 8 and 10 to 14": "tables of Turney's paper",
    "doing no test": "the name of a baseline",
    "in table 1 and": "a table of the paper of 2008",
    "in figure 14, where": "a figure of the paper of 2008",
    "(tables 3 and 4:": "tables of the paper of 2008",
    "in table 2, ": "a table of the paper of 2008",
    "as published at 5,000 and 10,000,": "error costs of the paper's columns",
    "at 100 to 10,000)": "error costs of the paper's columns",
    "; 95 % interval over data sets": "the level of the interval",
    "and at 5,000 and 10,000 it costs more": "error costs of the paper's columns",
    "Of the paper of 2006,": "a year",
    "against ICET at 10,000.": "an error cost of the paper's columns",
    "problems of depths 3, 4 and 5;": "depths of trees, rows of the page's table",
    "errors at 0.5, 5 and 50 times the price of all tests": "error costs of the benchmark",
    "the best single rival": "one learner for all problems, not a count",
    "(95 % interval over data sets": "the level of the interval",
    "more than 10 % above it": "the border above which problems are counted",
    "with two classes and": "how data sets are divided",
    "(two classes only)": "how data sets are divided",
    "Figure 4,": "a figure of Nan, Wang and Saligrama's paper",
    "makes no more errors than": "what is counted: budgets at which ours is at or below",
}


def section() -> str:
    """Return README's results on one line, without addresses."""
    whole = README.read_text(encoding="utf-8")
    found = whole[whole.index(BEGIN) : whole.index(END)]
    return re.sub(r"\s+", " ", re.sub(r"\]\([^)]*\)", "]()", found))


def _value(number: str) -> float:
    return float(WORDS[number.lower()]) if number.lower() in WORDS else float(number.replace(",", ""))


def disagreement(said: str, found: Found) -> str:
    """Return what is wrong with a number; empty if it is what its source says, rounded once.

    Examples
    --------
    >>> disagreement("0.96", Found(0.9551)), disagreement("0.955", Found(0.955, 3)), disagreement("two", Found(2, 0))
    ('', '', '')
    >>> disagreement("0.96", Found(0.955, 3))
    'has 0.955, rounded: more digits must be said'
    >>> disagreement("0.95", Found(0.9551)), disagreement("18.10", Found(18.1, 1))
    ('has 0.9551', 'has 18.1, with fewer digits')
    """
    digits, half = len(said.partition(".")[2]), 0.5 * 10 ** -len(said.partition(".")[2])
    gap = abs(_value(said) - found.value)
    if found.digits is None or said.lower() in WORDS:
        return "" if gap <= (1e-9 if said.lower() in WORDS else half + 1e-9) else f"has {found.value:g}"
    if digits > found.digits:
        return f"has {found.value:g}, with fewer digits"
    # What is printed may have been so much more or less.
    unsure = 0.0 if digits == found.digits else 0.5 * 10**-found.digits
    if gap > (half + unsure if unsure else 1e-9) + 1e-12:
        return f"has {found.value:g}"
    return f"has {found.value:g}, rounded: more digits must be said" if unsure and gap + unsure > half + 1e-12 else ""


@functools.cache
def _found(number: int) -> tuple[list[Found], bool]:
    """Return the numbers of the sources of a claim, and whether what it says beside them holds."""
    claim = CLAIMS[number]
    return [source() for source in claim.sources], claim.holds is None or claim.holds()


def problems(text: str) -> Iterator[str]:
    """Yield what is wrong with the numbers of a text."""
    covered = []
    for name in NAMES:
        spans = [match.span() for match in re.finditer(re.escape(name), text)]
        covered += spans
        if not spans:
            yield f"README does not say {name!r}, which is a name"
    for number, claim in enumerate(CLAIMS):
        match = re.search(claim.pattern, text)
        if match is None:
            yield f"README does not say {claim.text!r}"
            continue
        sources, holds = _found(number)
        if not holds:
            yield f"the result files do not bear out {match.group(0)!r}"
        for group, found in enumerate(sources, start=1):
            covered.append(match.span(group))
            if wrong := disagreement(match.group(group), found):
                yield f"README says {match.group(group)} in {match.group(0)!r}; the result file {wrong}"
    for match in NUMBER.finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in covered):
            around = text[max(match.start() - 40, 0) : match.end() + 20]
            yield f"README has {match.group()} in {around!r}, which no result file is named for"


def main() -> int:
    found = list(problems(section()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
