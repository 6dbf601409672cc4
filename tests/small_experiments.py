"""Experiments that take no time: what their cells measure is made up from the cell."""

import time

from worthwhile.experiments import Cell, Experiment, Family, ResultTable
from worthwhile.experiments.engine import seed_of
from worthwhile.experiments.page import Panel, Picture, TableEntry, mean_interval

RAN = []  # cells that were run in this process


def load(name, folder):
    if name == "lost":
        raise ValueError(f"there is no {name} in {folder}")


def measure(cell, folder):
    RAN.append(cell)
    if cell.learner == "broken":
        raise ZeroDivisionError("a bug")
    if cell.learner == "sleepy" and cell.split == 0:
        time.sleep(60)
    if cell.learner == "stopped" and cell.split == 2:
        raise KeyboardInterrupt
    return {"cost": seed_of(cell) / 7 + len(cell.learner), "seconds": 0.5}


def weight(cell):
    return 10.0 * (cell.learner == "slow") + cell.split


FAMILY = Family("small", ("cost", "seconds"), load, measure, weight)


def cells(learners, quick, seed, data="made-up"):
    splits = range(10 * seed, 10 * seed + (2 if quick else 4))
    return [Cell(data, "all", "1", learner, "", split) for learner in learners for split in splits]


def experiment(name, *learners, data="made-up", published=(0, 1)):
    def own_cells(quick, seed):
        return cells(learners, quick, seed, data)

    def table(results, quick, seed):
        entries = {
            (learner, "cost"): TableEntry(
                mean_interval([results[cell]["cost"] for cell in cells([learner], quick, seed, data)]),
                published,
                rough=quick,
            )
            for learner in learners
        }
        pictures = [
            Picture(
                f"{name}-lines", "Lines", [1, 10], "x", "y", [Panel("one", {"a": [1, 2]}, {"b": [0, 1]})], "ab", "z"
            )
        ]
        return ResultTable(
            name, f"About {name}", list(learners), ["cost"], entries, "As usual.", ["A note."], pictures=pictures
        )

    return Experiment(name, f"About {name}", FAMILY, own_cells, table)
