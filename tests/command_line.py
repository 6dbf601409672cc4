"""Running commands in this process or in another one, and files for them."""

import csv
import gzip
import os
import subprocess
import sys

from worthwhile import cli

# A small table of two classes and a price list for it.
HEAD = "age,pain,chol,class\n"
PAINS = ("none", "angina", "other")
ROWS = [f"{40 + i},{PAINS[i % 3]},{200 + 7 * (i % 9)},{'sick' if i > 19 else 'well'}\n" for i in range(40)]
COSTS = "[tests]\nage = 1.0\nchol = 5.0\n[errors.sick]\nwell = 100\n[errors.well]\nsick = 50\n"

BAR = {"FORCE_COLOR": "1", "COLUMNS": "120"}  # stderr counts as a terminal


def run(capsys, *arguments):
    """Run a command in this process; return its exit code, and what it printed and complained about."""
    code = cli.run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def run_joined(capsys, *arguments):
    """Run a command; the output is one line, so that wrapping does not matter."""
    code, out, err = run(capsys, *arguments)
    return code, " ".join(out.split()), err


def start(*arguments, **environment):
    """Start a command in another process."""
    return subprocess.Popen(
        [sys.executable, "-c", "from worthwhile.__main__ import main; main()", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )


def write_table(path, names, rows):
    """Write a CSV file, compressed if the name says so."""
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def read_rows(path):
    """Return the rows of a CSV file by column name."""
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as file:
        return list(csv.DictReader(file))


def snapshot():
    """Return sizes and times of all files below the current folder."""
    found = {}
    for where, _, names in os.walk("."):
        for name in names:
            path = os.path.join(where, name)
            found[path] = (os.path.getsize(path), os.stat(path).st_mtime_ns)
    return found


def fails(capsys, *arguments):
    """Run a command that must fail; return its one line. Nothing is written."""
    before = snapshot()
    code = cli.run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("worthwhile: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert snapshot() == before
    return err.removeprefix("worthwhile: ").rstrip("\n")


def write(name, text, encoding="utf-8"):
    """Write a text file and return its name."""
    with open(name, "w", encoding=encoding, newline="") as file:
        file.write(text)
    return name


DESK = [("manual", 20, "good"), ("manual", 50, "bad"), ("office", 25, "good"), ("office", 60, "good")] * 10


def learn_desk(*options):
    """Learn from the cases of `desk`."""
    known = ["--target", "outcome", "--costs", "costs.toml", "--learner", "eg2"]
    return cli.run(["learn", "cases.csv", *known, *options])
