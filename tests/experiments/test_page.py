"""The files that a reproduction writes."""

import csv
import io
import math
from dataclasses import replace

import pytest

import worthwhile
from worthwhile.experiments.page import (
    Breakdown,
    Compared,
    MeanInterval,
    ResultTable,
    RunInfo,
    TableEntry,
    counted_once,
    layout,
    mean_interval,
    reversed_orders,
    write_pages,
)

FULL = RunInfo("worthwhile reproduce x", quick=False, cells=3, seconds=90)


def test_the_interval_by_hand():
    # sd = sqrt(5/3), t(3) = 3.18245
    assert mean_interval([1.0, 2.0, 3.0, 4.0]) == MeanInterval(
        2.5, pytest.approx(3.18245 * math.sqrt(5 / 3) / 2, rel=1e-5)
    )
    alone = mean_interval([3.0])
    assert alone.mean == 3
    assert math.isnan(alone.interval)
    assert str(alone) == "3.0"


def test_values_of_one_group_count_as_one():
    # Groups of one size: the interval of their means. sd = sqrt(5/3), t(3) = 3.18245
    means = [1.0, 2.0, 3.0, 4.0]
    values = [mean + gap for mean in means for gap in (-0.5, 0.5)]
    pooled, over_groups = mean_interval(values), mean_interval(values, groups=[mean for mean in means for _ in "ab"])
    assert over_groups.mean == pooled.mean == 2.5
    assert over_groups.interval == pytest.approx(3.18245 * math.sqrt(5 / 3) / 2, rel=1e-5)
    assert over_groups.interval > pooled.interval
    assert math.isnan(mean_interval(values, groups=["one"] * 8).interval)


def test_averages_from_a_part_of_the_problems_are_counted_apart():
    def table(title, means, **rest):
        entries = {
            (str(i), "x"): TableEntry(MeanInterval(mean, 1.0), (50, 2.0), **rest) for i, mean in enumerate(means)
        }
        return ResultTable("t", title, [row for row, _ in entries], ["x"], entries)

    whole, part = table("Table 1: a", [50.0, 52.4, 53.0]), table("Table 2: b", [51.0, 60.0], rough=True, part=True)
    assert counted_once([whole, whole, part]) == (
        "Counted once, since tables repeat some, 2 of 3 published averages are reproduced within their intervals; only"
        " by rounding: 1, x in Table 1 (52.4, published 50 ± 2); not: 2, x in Table 1 (53.0, published 50 ± 2). Of 2"
        " more, of which ours are from a part of the problems, 1 are within the published intervals; not: 1, x in Table"
        " 2 (60.0, published 50 ± 2)."
    )
    assert counted_once([table("Table 3: c", [50.0], rough=True)]) == ""


def test_orders_that_are_not_published_ones():
    def some(table, *pairs):
        return [Compared(table, row, "x", ours, published) for row, ours, published in pairs]

    first = some("Table 1", ("a", 5.0, 4), ("b", 3.0, 6), ("c", 9.0, 6))
    assert reversed_orders(first).splitlines() == [  # b and c have no order
        "Of 2 pairs of rows of a column that the paper prints with different averages, each counted once, 1 have the"
        " other order here:",
        "",
        "- Table 1, x: b 3.0, a 5.0 (published 6, 4)",
    ]
    assert reversed_orders([*first, *some("Table 2", ("a", 5.0, 4), ("b", 3.0, 6))]) == reversed_orders(first)
    assert reversed_orders(some("Table 3", ("a", 1.0, 1), ("b", 2.0, 2))).endswith(" 0 have the other order here.")
    assert reversed_orders([]) == ""


def test_inside_is_judged_as_rounded():
    def inside(ours, **rest):
        return TableEntry(MeanInterval(ours, 1.0), (58, 5), **rest).inside

    assert [inside(x) for x in (52.4, 52.6, 58.0, 63.4, 63.6)] == [False, True, True, True, False]
    assert inside(58.0, rough=True) is None
    assert TableEntry(MeanInterval(58.0, 1.0)).inside is None


def small_table(columns, block=4):
    entries = {
        (row, column): TableEntry(MeanInterval(50.0 + i, 2.0), (49 + j, 1.5) if row == "A" else None)
        for i, row in enumerate("AB")
        for j, column in enumerate(columns)
    }
    parts = [Breakdown("By half", ["left"], {"A": [1.25]})]
    return ResultTable("t", "T", ["A", "B"], columns, entries, breakdowns=parts, block=block)


def test_a_narrow_table_has_the_published_beside_ours(tmp_path):
    table = small_table(["low", "high"])
    table.entries["A", "high"] = TableEntry(MeanInterval(60.0, 2.0), (50, 1.5))
    [(headings, lines)] = layout(table)
    assert headings == ["", "low: ours", "published", "high: ours", "published"]
    assert lines == [
        ["A", "50.0 ± 2.0", "49 ± 1.5", "60.0 ± 2.0 †", "50 ± 1.5"],
        ["B", "51.0 ± 2.0", "", "51.0 ± 2.0", ""],
    ]
    write_pages("t", [table], tmp_path, FULL)
    page = (tmp_path / "t.md").read_text()
    assert "1 of 2 of our means are in the published interval" in page
    assert "`worthwhile reproduce x`" in page
    assert f"worthwhile {worthwhile.__version__}" in page
    assert "3 cells, 1.5 minutes" in page
    # The published numbers of the page are those of the CSV file.
    shown = [line.split(" | ") for line in page.splitlines() if line.startswith("| A | 5")]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text())))
    kept = [f"{row['published']} ± {row['published_interval']}" for row in rows if row["row"] == "A"]
    assert [shown[0][2], shown[0][4].removesuffix(" |")] == kept
    assert [row["inside"] for row in rows] == ["yes", "no", "", ""]
    assert rows[1]["mean"] == "60.000"


def test_a_page_names_the_sets_that_constants_were_set_on(tmp_path):
    table = replace(small_table(["low", "high"]), tuned={"B": "iris"}, reported="wine")
    write_pages("t", [table], tmp_path, FULL)
    page = (tmp_path / "t.md").read_text()
    assert "|  | constants set on | reported here on |\n|---|---|---|\n| B | iris | wine |" in page


def test_inside_only_by_rounding():
    entries = [TableEntry(MeanInterval(ours, 1.0), (26, 5)) for ours in (20.8, 21.0, 30.9, 20.4)]
    assert [entry.only_by_rounding for entry in entries] == [True, False, False, False]
    assert [entry.inside for entry in entries] == [True, True, True, False]
    assert not TableEntry(MeanInterval(20.8, 1.0)).only_by_rounding


def test_a_wide_table_comes_in_blocks(tmp_path):
    table = small_table([f"c{n}" for n in range(7)], block=3)
    blocks = layout(table)
    assert [headings for headings, _ in blocks] == [["", "c0", "c1", "c2"], ["", "c3", "c4", "c5"], ["", "c6"]]
    assert blocks[0][1][0] == ["A", "50.0 ± 2.0\n(49 ± 1.5)", "50.0 ± 2.0\n(50 ± 1.5)", "50.0 ± 2.0\n(51 ± 1.5)"]
    write_pages("t", [table], tmp_path, FULL)
    assert "| A | 50.0 ± 2.0<br>(49 ± 1.5) |" in (tmp_path / "t.md").read_text()
