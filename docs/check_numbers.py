"""Are the numbers in README's section "Results" those of the result files?

    python docs/check_numbers.py

`CLAIMS` has, for each sentence with numbers, a pattern that finds it in README, and for each group of the pattern where
the number comes from: a mean of a CSV file, a cell of a table, or a number in the text of a page. `NAMES` are numbers
that measure nothing, such as those of tables. A number that is in neither is an error, as is one that differs from its
source when rounded to as many digits.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).resolve().parent
README, RESULTS = DOCS.parent / "README.md", DOCS / "results"
BEGIN, END = "## Results\n", "To reproduce them:"

Source = Callable[[], float]
NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?![\w])")


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


def mean(file: str, table: str, row: str, column: str) -> Source:
    """Return our mean of a CSV file."""
    return lambda: results.csv_means(RESULTS / file)[table, row, column]


def text(file: str, pattern: str) -> Source:
    """Return the number that a pattern with one group finds in a page; all that it finds must be equal."""

    def read() -> float:
        found = {_value(number) for number in re.findall(pattern, (RESULTS / file).read_text(encoding="utf-8"))}
        if len(found) != 1:
            raise ValueError(f"{file}: {pattern!r} finds {len(found)} different numbers, not one")
        return found.pop()

    return read


def ratio(file: str, title: str, row: str, column: str) -> list[Source]:
    """Return a ratio in a table of a page, and the ends of its interval."""

    def part(name: str) -> Source:
        def read() -> float:
            page = (RESULTS / file).read_text(encoding="utf-8")
            return float(getattr(results.Ratio.read(results.rows_below(page, title)[row][column]), name))

        return read

    return [part("mean"), part("low"), part("high")]


def overview(family: str, ours: str) -> list[Source]:
    """Return the ratio of a line of the overview, and the ends of its interval."""

    def part(name: str) -> Source:
        def read() -> float:
            lines = [line for line in results.overview() if line.family == family and line.ours == ours]
            return float(getattr(lines[0].ratio, name))

        return read

    return [part("mean"), part("low"), part("high")]


def ends(file: str, title: str, column: str) -> list[Source]:
    """Return the least and the largest number of a column of a table."""

    def numbers() -> list[float]:
        page = (RESULTS / file).read_text(encoding="utf-8")
        return [float(row[column]) for row in results.rows_below(page, title).values() if row[column] not in ("–", "1")]

    return [lambda: min(numbers()), lambda: max(numbers())]


# ---- what README says


@dataclass(frozen=True)
class Claim:
    """A pattern that finds a sentence in README, and the source of the number of each group."""

    pattern: str
    sources: list[Source]


TURNEY = ("turney.csv", "turney-table5")
ALL, LOW = "10 to 10,000", "10 to 100"
HALVES = "Cost of our rows by that of the others"
CLAIMS = [
    Claim(
        r"of (\d+) printed averages, (\d+) without repetitions, all",
        [text("turney.md", r"It prints (\d+) averages"), text("turney.md", r"the other (\d+) all lie")],
    ),
    Claim(
        r"binary ICET at cheap errors, (\S+) against (\d+) ± (\d+)\)",
        [
            mean("turney.csv", "turney-table13", "ICET, binary", LOW),
            text("turney.md", r"ICET, binary \|[^|]*\| 48 ± 6 \| 20.8 ± 0.9 \| (\d+) ± 5"),
            text("turney.md", r"ICET, binary \|[^|]*\| 48 ± 6 \| 20.8 ± 0.9 \| 26 ± (\d+)"),
        ],
    ),
    Claim(
        r"seeded ICET costs (\S+), binary (\S+); published (\d+) and (\d+)\)",
        [
            mean("turney.csv", "turney-table14", "ICET, seeded", ALL),
            mean("turney.csv", "turney-table14", "ICET, binary", ALL),
            text("turney.md", r"\| ICET, seeded \|[^|]*\| (\d+) ± 6"),
            text("turney.md", r"\| ICET, binary \|[^|]*\| (\d+) ± 6"),
        ],
    ),
    Claim(
        r"his ICET costs (\d+) \(ours as published: (\d+)\), doing no\s+test (\d+), .*?without prices, (\d+), the"
        r" refined ICET (\d+) and the refined ACT (\d+)",
        [
            text("turney.md", r"\| ICET \| 50.0 ± 2.2 \| (\d+) ± 7"),
            *(
                mean(*TURNEY, row, ALL)
                for row in ("ICET", "no test", "pick among peers, without prices", "ICET, refined")
            ),
            mean(*TURNEY, "ACT, refined", ALL),
        ],
    ),
    Claim(
        r"the pick costs (\S+) and the refined ACT (\S+): (\S+) of it \((\S+) to (\S+)\)\. Constants",
        [
            text("turney.md", r"\| pick among peers \| (\S+) ± \S+ \| \S+ ± \S+ \|\n"),
            text("turney.md", r"\| ACT, refined \| (\S+) ± \S+ \| \S+ ± \S+ \|\n"),
            *ratio("turney.md", "cost of our rows by that of the others", "ACT, refined", "pick among peers"),
        ],
    ),
    Claim(
        r"(\d+) problems: (\d+) of the (\d+) published averages",
        [
            text("esmeir.md", r"on all of the (\d+) problems"),
            text("esmeir.md", r"\n(\d+) of 40 of our means"),
            text("esmeir.md", r"\n39 of (\d+) of our means"),
        ],
    ),
    Claim(
        r"\((\S+), (\S+), (\S+), (\S+), (\S+) % of the standard cost at 100 to 10,000\)",
        [
            mean("esmeir.csv", "esmeir-table1", "ACT, refined", column)
            for column in ("100", "500", "1000", "5000", "10000")
        ],
    ),
    Claim(
        r"on the (\d+) problems of Turney's data sets, .*? \((\S+) of ACT as published\)",
        [
            text(
                "esmeir.md",
                r"reported here on \|\n\|---\|---\|---\|\n\| ACT, refined \| .* \| (\d+) problems of Turney's"
                r" data sets and 80 others",
            ),
            ratio("esmeir.md", HALVES, "ACT, refined, Turney's 25", "ACT")[0],
        ],
    ),
    Claim(
        r"on the (\d+) others it is no better \((\S+), 95 % interval (\S+) to (\S+)\)",
        [
            text("esmeir.md", r"25 problems of Turney's data sets and (\d+) others"),
            *ratio("esmeir.md", HALVES, "ACT, refined, 80 others", "ACT"),
        ],
    ),
    Claim(
        r"Of the paper of 2006, (\d+) of its (\d+) problems",
        [
            text("esmeir.md", r"\n(\d+) of the 55 problems are in this table"),
            text("esmeir.md", r"\n46 of the (\d+) problems are in this table"),
        ],
    ),
    Claim(
        r"`OptimalClassifier` costs (\S+) of ACT \((\S+) to (\S+)\) and (\S+) of pystreed's tuned trees, which know the"
        r" prices \((\S+) to (\S+)\)",
        [
            *ratio("streed-costs.md", "OptimalClassifier against each row", "ACT", "ratio"),
            *ratio("streed-costs.md", "OptimalClassifier against each row", "pystreed, tuned", "ratio"),
        ],
    ),
    Claim(
        r"in \[(\S+) and (\S+) of its time\]\(\) at depths 3 and 4 \((\d+) problems",
        [
            text("exact-speed.md", r"\| 3 \| 39 \| (\S+) \|"),
            text("exact-speed.md", r"\| 4 \| 39 \| (\S+) \|"),
            text("exact-speed.md", r"\| [34] \| (\d+) \| 0"),
        ],
    ),
    Claim(r"The default\]\(\) on (\d+) data sets", [text("index.md", r"total cost, (\d+) data sets")]),
    Claim(
        r"`AutoClassifier` costs (\S+) % of the standard cost in geometric mean, the best single rival \(a forest on"
        r" selected tests\) (\S+): (\S+) of it \((\S+) to (\S+)\)",
        [
            text("default.md", r"geometric mean of the sets reported only \|.*\| (\S+) \|(?: \S+ \|){4}\n"),
            text("default.md", r"geometric mean of the sets reported only \|.*\| (\S+) \|(?: \S+ \|){10}\n"),
            *overview("The default", "AutoClassifier"),
        ],
    ),
    Claim(
        r"chosen with hindsight, it costs (\S+), and more than 10 % above it on (\d+) of (\d+)",
        [
            text("default.md", r"chosen with hindsight: (\S+) in geometric mean"),
            text("default.md", r"more than 10 % above the best rival on (\d+) of them"),
            text("default.md", r"in geometric mean of (\d+) cells"),
        ],
    ),
    Claim(
        r"C4.5CS costs (\S+) of C4.5 with two classes and (\S+) with more \(published (\S+), (\S+)\)",
        [
            mean("ting.csv", "ting-table1", "mean, two classes", "cost: ratio"),
            mean("ting.csv", "ting-table1", "mean, more classes", "cost: ratio"),
            text("ting.md", r"\| mean, two classes \| – \| – \| 0.64<br>\((\S+)\)"),
            text("ting.md", r"\| mean, more classes \| – \| – \| 1.00<br>\((\S+)\)"),
        ],
    ),
    Claim(
        r"With the whole matrix of error costs it is (\S+) and (\S+), .*? tree (?:has|costs) (\S+) and (\S+),"
        r" Weka's CostSensitiveClassifier (\S+) and (\S+), or (\S+) and (\S+)\.",
        [
            mean("ting.csv", "ting-learners", f"mean, {kind}", learner)
            for learner in ("full matrix, chosen", "scikit-learn", "Weka, reweighted", "Weka, least cost")
            for kind in ("two classes", "more classes")
        ],
    ),
    Claim(
        r"`CascadeClassifier` costs (\S+) and (\S+); scikit-learn's forest costs (\S+) with a tuned threshold \(two"
        r" classes only\), (\S+) with answers of least cost and more classes",
        [
            text("ting-boosting.md", r"mean, two classes \(9 sets\)\*\* \|.*\| (\S+) \|\n"),
            text("ting-boosting.md", r"mean, more classes \(6 sets\)\*\* \|.*\| (\S+) \|\n"),
            text("ting-boosting.md", r"mean, two classes \(9 sets\)\*\* \| \S+ \| \S+ \| \S+ \| (\S+) \|"),
            text("ting-boosting.md", r"mean, more classes \(6 sets\)\*\* \| \S+ \| \S+ \| (\S+) \|"),
        ],
    ),
    Claim(
        r"first ten trees, (\S+) to (\S+) %, are within (\S+) points of those published, its errors (\S+) points above"
        r" those of a random forest \(published (\S+)\)",
        [
            mean("nan.csv", "nan-table1", "Forest: BudgetRF", "1"),
            mean("nan.csv", "nan-table1", "Forest: BudgetRF", "10"),
            text("nan.md", r"all ten columns are within (\S+) points"),
            text("nan.md", r"\| Forest \| 15.44 \| 17.26 \(\+(\S+)\)"),
            text("nan.md", r"\| Forest \|.*13.64 \(\+(\S+)\)"),
        ],
    ),
    Claim(
        r"at (\d+) of 10 budgets on covertype, (\d+) on credit default, (\d+) on adult and (\d+) on letter"
        r" \(ten splits; behind by at most (\S+) points",
        [
            text("nan.md", rf"at or below the best rival at: .*?{problem} (\d+) \(below")
            for problem in (
                "Forest, unit prices",
                "credit default, drawn prices",
                "adult, drawn prices",
                "letter, drawn prices",
            )
        ]
        + [text("nan.md", r"behind at 100 % of the price, by (\S+) points")],
    ),
    Claim(
        r"on (\d+) data sets and the same folds, mean accuracy differs by (\S+) points and mean tree size by (\S+) %",
        [
            text("j48.md", r"of (\d+) data sets\."),
            text("j48.md", r"mean accuracy: -(\S+) points"),
            text("j48.md", r"mean tree size: \+(\S+) %"),
        ],
    ),
    Claim(r"takes (\S+) to (\S+) of scikit-learn's time", ends("speed.md", "is divided by scikit-learn's", "fit")),
    Claim(
        r"answers \*and\* prices (\S+) to (\S+) of its plain predict",
        ends("speed.md", "is divided by scikit-learn's", "predict with prices"),
    ),
    Claim(r"on nominal data (\S+) to (\S+) of J48's", ends("speed.md", "their class drawn anew", "fit, ours : J48")),
    Claim(
        r"take (\S+) to (\S+) of the time of 1000 fits", ends("icet-speed.md", "1000 trials", "trials / scikit-learn")
    ),
    Claim(
        r"samples and values (\d+) to (\d+) trees",
        [
            text("act-speed.md", r"\| thyroid \| 1000 \| \S+ \| (\S+) \|"),
            text("act-speed.md", r"\| thyroid \| 30 \| \S+ \| (\S+) \|"),
        ],
    ),
    Claim(
        r"take (\S+) to (\S+) of the time of scikit-learn's, depending on",
        [
            text("forest-speed.md", r"α = 45, drawn \| \S+ \| (\S+) \|"),
            text("forest-speed.md", r"α = 0, weighted \| \S+ \| (\S+) \|"),
        ],
    ),
    Claim(
        r"prices (\S+) to (\S+) of its predict",
        [
            text("forest-speed.md", r"α = 45, drawn(?: \| \S+){4} \| \S+ \| (\S+) \|"),
            text("forest-speed.md", r"α = 0, weighted(?: \| \S+){4} \| \S+ \| (\S+) \|"),
        ],
    ),
]
# Numbers that measure nothing: of tables and depths, error costs, sizes of an experiment.
NAMES = (
    r"tables? \d+(?:, \d+)*(?: (?:and|to) \d+)+",
    r"depths? \d+(?:, \d+)?(?: and \d+)*(?:, and \d+ on \d+)?",
    r"at 5,000 and 10,000",
    r"the paper of 2006",
    r"against ICET at 10,000",
    r"at 100 to 10,000",
    r"95 % interval",
    r"more than 10 %",
    r"of 10 budgets",
    r"errors at 0\.5, 5 and 50 times",
    r"\d+ of his \d+ data sets",
    r"^- .*?\d+ problems at three levels",
    r"of all 45",
    r"1000 (?:trials|fits)",
)


def section() -> str:
    """Return README's results, without addresses and code."""
    whole = README.read_text(encoding="utf-8")
    found = whole[whole.index(BEGIN) : whole.index(END)]
    return re.sub(r"\]\([^)]*\)", "]()", found)


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def problems(text: str) -> Iterator[str]:
    """Yield what is wrong with the numbers of a text."""
    covered = [match.span() for name in NAMES for match in re.finditer(name, text, flags=re.MULTILINE)]
    for claim in CLAIMS:
        found = re.search(claim.pattern, text, flags=re.DOTALL)
        if found is None:
            yield f"README does not say {claim.pattern!r}"
            continue
        for group, source in enumerate(claim.sources, start=1):
            said = found.group(group).rstrip(".,;:")
            covered.append((found.start(group), found.start(group) + len(said)))
            digits = len(said.partition(".")[2])
            value = source()
            # A source that is rounded itself may be at the border.
            if abs(_value(said) - value) > 0.5 * 10**-digits + 1e-9:
                yield f"README says {said} in {found.group(0)!r}; the result file has {value:g}"
    for match in NUMBER.finditer(text):
        if not any(start <= match.start() and match.end() <= end for start, end in covered):
            around = text[max(match.start() - 40, 0) : match.end() + 20].replace("\n", " ")
            yield f"README has {match.group()} in {around!r}, which no result file is named for"


def main() -> int:
    found = list(problems(section()))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
