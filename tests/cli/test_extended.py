"""Tables with added columns."""

from pathlib import Path

import pytest

from command_line import write
from worthwhile.cli.common import Printer
from worthwhile.cli.extended import check_extended, write_extended
from worthwhile.table.files import TableFile


def test_lines_go_where_the_table_does_not(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = TableFile(Path(write("a.csv", "x\n1\n")))
    write_extended(source, Path("b.csv"), {"y": [2]}, ["a note"], "done", Printer(False))
    assert capsys.readouterr().out == "a note\ndone\n"
    assert Path("b.csv").read_text() == "x,y\n1,2\n"
    write_extended(source, Path("-"), {"y": [2]}, ["a note"], "done", Printer(False))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("x,y\n1,2\n", "worthwhile: a note\n")


def test_an_input_is_not_overwritten():
    with pytest.raises(ValueError, match="is an input file"):
        check_extended(Path("a.csv"), [Path("a.csv")])
    check_extended(Path("-"), [Path("a.csv")])
