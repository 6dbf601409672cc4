"""README's numbers and the page that opens the results are those of the result files."""

import doctest
import importlib.util
import re
import sys
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
        ("39 of the 40", "38 of the 40", "README says 38"),
        ("(0.78 to 0.92)", "(0.78 to 0.99)", "README says 0.99"),
        ("costs 18.1 %", "costs 17.9 %", "README says 17.9"),
        ("costs 18.1 %", "costs 18.10 %", None),  # as many digits as are said
        ("two splits:", "two splits, 7 seconds:", "README has 7 in"),
        ("on 43 data sets", "on many data sets", "README does not say"),
    ],
)
def test_a_number_that_disagrees_is_found(said, changed, problem):
    text = check_numbers.section()
    assert said in text
    found = list(check_numbers.problems(text.replace(said, changed)))
    assert any(line.startswith(problem) for line in found) if problem else not found


def test_every_claim_names_a_source_for_each_number():
    for claim in check_numbers.CLAIMS:
        assert re.compile(claim.pattern).groups == len(claim.sources)


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
    costs = write_results.default_costs()
    assert len(costs) == 39
    assert costs["mushroom", "50"]["pystreed"] == 1.5


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
