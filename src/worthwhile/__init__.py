"""worthwhile: decision trees that know what tests cost.

The public names are imported when they are first used, so that ``import worthwhile`` stays light.

>>> import worthwhile as ww
>>> ww.Costs(tests={"age": 1.0}).price("age")
1.0
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # not from typing, which takes as long to import as all the rest: Ctrl-C is handled only after it

__version__ = "0.1.0"

# Public name -> module that defines it.
_HOME = {
    "Costs": "costs",
    "Surcharge": "costs",
    "Test": "costs",
    "Tree": "tree",
    "Advice": "tree",
    "Explanation": "tree",
    "Outcome": "tree",
    "AutoClassifier": "learners.auto.classifier",
    "C45Classifier": "learners.greedy",
    "C45CSClassifier": "learners.c45cs",
    "EG2Classifier": "learners.greedy",
    "IDXClassifier": "learners.greedy",
    "CSID3Classifier": "learners.greedy",
    "DTMCClassifier": "learners.greedy",
    "ICETClassifier": "learners.icet.classifier",
    "LSID3Classifier": "learners.act.classifier",
    "ACTClassifier": "learners.act.classifier",
    "OptimalClassifier": "learners.optimal.classifier",
    "BudgetForestClassifier": "learners.forest.classifier",
    "CascadeClassifier": "learners.cascade.classifier",
    "load": "learners.model_file",
}
_MODULES = ("datasets", "displays", "evaluation", "metrics", "report")

__all__ = [*_HOME, *_MODULES, "__version__"]  # noqa: PLE0604 - all of them are strings

if TYPE_CHECKING:  # the same again, for type checkers and editors
    from typing import Any

    from worthwhile import datasets as datasets
    from worthwhile import displays as displays
    from worthwhile import evaluation as evaluation
    from worthwhile import metrics as metrics
    from worthwhile import report as report
    from worthwhile.costs import Costs as Costs
    from worthwhile.costs import Surcharge as Surcharge
    from worthwhile.costs import Test as Test
    from worthwhile.learners.act.classifier import ACTClassifier as ACTClassifier
    from worthwhile.learners.act.classifier import LSID3Classifier as LSID3Classifier
    from worthwhile.learners.auto.classifier import AutoClassifier as AutoClassifier
    from worthwhile.learners.c45cs import C45CSClassifier as C45CSClassifier
    from worthwhile.learners.cascade.classifier import CascadeClassifier as CascadeClassifier
    from worthwhile.learners.forest.classifier import BudgetForestClassifier as BudgetForestClassifier
    from worthwhile.learners.greedy import C45Classifier as C45Classifier
    from worthwhile.learners.greedy import CSID3Classifier as CSID3Classifier
    from worthwhile.learners.greedy import DTMCClassifier as DTMCClassifier
    from worthwhile.learners.greedy import EG2Classifier as EG2Classifier
    from worthwhile.learners.greedy import IDXClassifier as IDXClassifier
    from worthwhile.learners.icet.classifier import ICETClassifier as ICETClassifier
    from worthwhile.learners.model_file import load as load
    from worthwhile.learners.optimal.classifier import OptimalClassifier as OptimalClassifier
    from worthwhile.tree import Advice as Advice
    from worthwhile.tree import Explanation as Explanation
    from worthwhile.tree import Outcome as Outcome
    from worthwhile.tree import Tree as Tree


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(f"worthwhile.{_HOME[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"worthwhile.{name}")
    raise AttributeError(f"module 'worthwhile' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
