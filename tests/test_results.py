"""README's numbers and the page that opens the results are those of the result files."""

import doctest
import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


check_numbers = script("check_numbers")
write_results = check_numbers.results


def test_the_numbers_of_the_readme_are_those_of_the_result_files():
    assert list(check_numbers.problems(check_numbers.section())) == []


@pytest.mark.parametrize(
    ("said", "changed", "problem"),
    [
        ("39 of 40", "38 of 40", "README says 38"),
        ("0.76 to 0.95)", "0.76 to 0.99)", "README says 0.99"),
        ("costs 18.1 %", "costs 17.9 %", "README says 17.9"),
        ("costs 18.1 %", "costs 18.08 %", None),  # as many digits as are said: this is made from cells
        ("20.8 against", "20.81 against", None),  # a CSV file has three digits
        ("the pick costs 45.9", "the pick costs 45.90", "README says 45.90"),  # a page has one
        ("0.955 of it", "0.96 of it", "README says 0.96"),  # rounded twice
        ("0.955 of it", "0.95 of it", "README says 0.95"),
        ("two splits:", "two splits, 7 seconds:", "README has 7 in"),
        ("two splits:", "two splits, nine seconds:", "README has nine in"),
        ("on 43 data sets", "on many data sets", "README does not say"),
        ("doing no test", "doing nothing", "README does not say 'doing no test', which is a name"),
    ],
)
def test_a_number_that_disagrees_is_found(said, changed, problem):
    text = check_numbers.section()
    assert said in text
    found = list(check_numbers.problems(text.replace(said, changed)))
    assert any(line.startswith(problem) for line in found) if problem else not found


def other(number):
    """Return another number in the same words or with as many digits."""
    if number.lower() in check_numbers.WORDS:
        return "seven" if number.lower() != "seven" else "eight"
    digits = len(number.partition(".")[2])
    return f"{float(number.replace(',', '')) + 10**-digits:.{digits}f}"


NUMBERS = [(match.start(), match.group()) for match in check_numbers.NUMBER.finditer(check_numbers.section())]


def test_all_numbers_and_number_words_are_looked_at():
    found = {number.lower() for _, number in NUMBERS}
    assert {"no", "one", "two", "four", "five", "six", "eight", "ten", "all", "every"} <= found
    assert len(NUMBERS) > 150


@pytest.mark.parametrize(("place", "number"), NUMBERS)
def test_a_change_of_any_number_is_found(place, number):
    text = check_numbers.section()
    assert list(check_numbers.problems(text[:place] + other(number) + text[place + len(number) :]))


def test_every_name_has_a_reason_and_is_short():
    for name, reason in check_numbers.NAMES.items():
        assert reason
        assert len(name.split()) <= 12
        assert check_numbers.NUMBER.search(name)


def test_every_claim_names_a_source_for_each_number():
    for claim in check_numbers.CLAIMS:
        assert claim.text.count("#") == len(claim.sources)
        assert claim.sources or claim.holds


def test_a_statement_that_the_files_do_not_bear_out_is_found(monkeypatch):
    wrong = check_numbers.Claim("doing no test", [], holds=lambda: False)
    monkeypatch.setattr(check_numbers, "CLAIMS", [*check_numbers.CLAIMS, wrong])
    assert list(check_numbers.problems(check_numbers.section())) == ["the result files do not bear out 'doing no test'"]


def test_a_source_that_is_not_unique_is_refused():
    with pytest.raises(ValueError, match="finds 0 different numbers, not one"):
        check_numbers.text("turney.md", r"no such (\d+)")()


def test_the_overview_is_current():
    text = write_results.INDEX.read_text(encoding="utf-8")
    message = "run: python docs/write_results.py index --write"
    assert text == write_results.written(text, write_results.overview()), message


def test_the_overview_names_the_strongest_rival_and_what_is_not_reached():
    lines = write_results.overview()
    assert {line.page for line in lines} >= {"default.md", "turney.md", "esmeir.md", "streed-costs.md", "nan.md"}
    assert all(line.beside for line in lines)
    [others] = [line for line in lines if line.problems.startswith("80 problems")]
    assert others.ratio.low < 1 < others.ratio.high
    assert all(line.over for line in lines)
    costs = write_results.default_costs()
    assert len(costs) == 39
    page = write_results.rows_below(
        (write_results.RESULTS / "default.md").read_text(encoding="utf-8"), "Read with care"
    )
    assert f"{costs['optdigits', '50']['pystreed']:.1f}" == page["optdigits"]["pystreed"]  # the last row of a set


def test_what_is_said_in_short_comes_from_the_intervals():
    lines = write_results.overview()
    ratio = write_results.Ratio
    changed = [replace(lines[0], ratio=ratio(1.2, 1.1, 1.3)), replace(lines[1], ratio=ratio(0.8, 0.7, 0.9))]
    text = write_results.in_short(changed)
    assert f"- **Less, and the interval excludes 1:** {lines[1].ours} against" in text
    assert f"- **More, and the interval excludes 1:** {lines[0].ours} against" in text
    assert "(the interval contains 1): none." in text


def test_the_orders_of_turneys_tables_are_current():
    page = (write_results.RESULTS / "turney.md").read_text(encoding="utf-8")
    csv_file = (write_results.RESULTS / "turney.csv").read_text(encoding="utf-8")
    assert page == write_results.with_orders(page, csv_file), "run: python docs/write_results.py orders --write"


def test_the_page_of_the_default_is_made_from_its_cells(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    default = importlib.import_module("default")
    cells = [json.loads(line) for line in (write_results.CELLS / "default.jsonl").read_text().splitlines()]
    page = (write_results.RESULTS / "default.md").read_text(encoding="utf-8")
    made = default.page(cells)
    for line in made[: made.index("- date: ")].splitlines():
        assert line in page


def test_the_picture_of_the_overview_is_drawn(tmp_path):
    write_results.draw(write_results.overview(), tmp_path / "x.png")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("module", [check_numbers, write_results], ids=lambda module: module.__name__)
def test_examples(module):
    assert doctest.testmod(module).failed == 0


def test_a_page_without_the_table_is_refused():
    with pytest.raises(ValueError, match="the page has no line with 'Costs'"):
        write_results.rows_below("# Nothing\n", "Costs")
    with pytest.raises(ValueError, match="'much' is not a ratio"):
        write_results.Ratio.read("much")
