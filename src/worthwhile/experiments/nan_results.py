"""The numbers behind the tables of Nan, Wang & Saligrama (2015): those of the cells, and the published ones."""

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
from worthwhile.experiments.page import ResultTable

__all__ = ["NanGrid", "NanResults", "Points", "cell_of", "published"]

ERRORS = "1"  # every error costs the same


@dataclass(frozen=True)
class NanGrid:
    """The definition of a table."""

    name: str
    title: str
    cells: Callable[[bool, int], list[Cell]]
    table: Callable[[NanResults], ResultTable]


class NanResults:
    """The numbers of a table's finished cells."""

    def __init__(self, grid: NanGrid, cells: Mapping[Cell, Numbers], quick: bool, seed: int) -> None:
        self.grid, self.quick, self.seed = grid, quick, seed
        self._wanted = grid.cells(quick, seed)
        self._cells = cells

    @property
    def finished(self) -> bool:
        """Whether all cells are finished."""
        return all(cell in self._cells for cell in self._wanted)

    def points(self, data: str, prices: str, learner: str, parameters: Mapping[str, Any], split: int) -> Points:
        """Return the numbers at the ten points of a cell."""
        return Points(self._cells[cell_of(data, prices, learner, parameters, split)])

    def done(self, data: str, prices: str, learners: Mapping[str, list[dict[str, Any]]]) -> list[int]:
        """Return the splits of a problem that are finished for all these learners."""
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

    def page(self, notes: Iterable[str], **parts: Any) -> ResultTable:
        """Return the table with the notes that all tables have."""
        missing = [] if self.finished else ["Some cells are not finished; the table is made from the others."]
        name = f"nan-{self.grid.name}"
        return ResultTable(name=name, title=self.grid.title, notes=[*missing, *notes], **parts)


class Points:
    """The numbers at the ten points of a cell."""

    def __init__(self, numbers: Numbers) -> None:
        self.valid_error, self.price, self.error = (
            np.array([numbers[f"{name}_{i}"] for i in range(1, POINTS + 1)])
            for name in ("valid_error", "price", "error")
        )


def cell_of(data: str, prices: str, learner: str, parameters: Mapping[str, Any], split: int) -> Cell:
    """Return the cell of a learner with these parameters."""
    return Cell(data, prices, ERRORS, learner, text_of(parameters), split)


@functools.cache
def published() -> dict[tuple[str, str, str], float]:
    """Return the published number of each (table, row, column)."""
    path = Path(__file__).parent / "published" / "nan-2015.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return {(line["table"], line["row"], line["column"]): float(line["value"]) for line in csv.DictReader(file)}
