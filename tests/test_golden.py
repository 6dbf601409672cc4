"""The golden net: what every learner computes is what it computed when `golden.json` was written.

A refactoring must keep every digest. A change of behaviour writes the file anew, and its commit says which entries
changed and why: ``python tests/test_golden.py``.
"""

import json
from pathlib import Path

import pytest

from golden_cases import ENTRIES, FORESTS, SEARCHES, observe

FILE = Path(__file__).with_name("golden.json")


def test_the_net_covers_what_the_file_has():
    assert sorted(json.loads(FILE.read_text())) == sorted(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES)
def test_results_are_those_of_the_golden_file(entry):
    golden = json.loads(FILE.read_text())
    threads = 2 if entry.split("/")[0] in {*SEARCHES, *FORESTS} else 1
    assert observe(entry, threads) == golden[entry]


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.endswith("/tangled")])
def test_results_do_not_depend_on_the_number_of_threads(entry):
    assert observe(entry, 1) == observe(entry, 2)


if __name__ == "__main__":
    found = {entry: observe(entry, 1) for entry in ENTRIES}
    FILE.write_text(json.dumps(found, indent=0) + "\n")
