"""What the tables of Nan, Wang & Saligrama (2015) are made from: the numbers of the cells, and the published ones."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from worthwhile.experiments.engine import Cell, Numbers, text_of
from worthwhile.experiments.nan_cells import POINTS
from worthwhile.experiments.page import Table

__all__ = ["Grid", "Points", "Results", "cell_of", "published"]

ERRORS = "1"  # every error costs the same


@dataclass(frozen=True)
class Grid:
    """What makes a table."""

    name: str
    title: str
    cells: Callable[[bool, int], list[Cell]]
    table: Callable[[Results], Table]


class Results:
    """The numbers of a table's cells, as far as they are there."""

    def __init__(self, grid: Grid, cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> None:
        self.grid, self.quick, self.seed = grid, quick, seed
        self._wanted = grid.cells(quick, seed)
        self._cells = cells

    @property
    def finished(self) -> bool:
        return all(cell in self._cells for cell in self._wanted)

    def points(self, data: str, prices: str, learner: str, parameters: Mapping[str, Any], split: int) -> Points:
        """Return what was measured at the ten points."""
        return Points(self._cells[cell_of(data, prices, learner, parameters, split)])

    def done(self, data: str, prices: str, learners: Mapping[str, list[dict[str, Any]]]) -> list[int]:
        """Return the splits of a problem that are finished for all of these learners."""
        wanted = {cell.split: True for cell in self._wanted if (cell.data, cell.prices) == (data, prices)}
        return [
            split
            for split in wanted
            if all(
                cell_of(data, prices, learner, parameters, split) in self._cells
                for learner, settings in learners.items()
                for parameters in settings
            )
        ]

    def page(self, notes: Iterable[str], **parts: Any) -> Table:
        """Return the table with what all tables say."""
        missing = [] if self.finished else ["Not all of it is finished: what is missing is left out."]
        name = f"nan-{self.grid.name}"
        return Table(name=name, title=self.grid.title, notes=[*missing, *notes], **parts)


class Points:
    """What was measured at the ten points of a cell."""

    def __init__(self, numbers: Numbers) -> None:
        self.valid_error, self.price, self.error = (
            np.array([numbers[f"{name}_{i}"] for i in range(1, POINTS + 1)])
            for name in ("valid_error", "price", "error")
        )


def cell_of(data: str, prices: str, learner: str, parameters: Mapping[str, Any], split: int) -> Cell:
    """Return where a learner with these parameters is measured."""
    return Cell(data, prices, ERRORS, learner, text_of(parameters), split)


@functools.cache
def published() -> dict[tuple[str, str, str], float]:
    """Return the published number of each (table, row, column)."""
    path = Path(__file__).parent / "published" / "nan-2015.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {(line["table"], line["row"], line["column"]): float(line["value"]) for line in csv.DictReader(file)}
