"""What type checkers see of the public names; mypy checks this file, nothing runs it.

An ignored error that is none is an error, too: the parameters must have real types.
"""

from typing import Any, Literal, assert_type

import numpy as np
import numpy.typing as npt

import worthwhile as ww
from worthwhile.learners.auto.classifier import Candidate


def learners(X: Any, y: Any) -> None:
    clf = ww.C45Classifier(prune="cost", min_cases=3, costs=ww.Costs(errors=500))
    assert_type(clf, ww.C45Classifier)
    assert_type(clf.fit(X, y), ww.C45Classifier)
    assert_type(clf.prune, Literal["pessimistic", "cost", "none"])
    assert_type(clf.max_depth, int | None)
    assert_type(clf.test_costs(X), npt.NDArray[np.float64])
    assert_type(clf.total_costs(X, y), npt.NDArray[np.float64])
    assert_type(clf.next_test({"x0": 1}), ww.Advice)
    assert_type(clf.score(X, y), float)
    assert_type(ww.BudgetForestClassifier().fit(X, y), ww.BudgetForestClassifier)
    assert_type(ww.AutoClassifier(readable=True).fit(X, y), ww.AutoClassifier)
    assert_type(ww.AutoClassifier().candidates_, list[Candidate])
    assert_type(ww.CascadeClassifier().fit(X, y).stages_, list[tuple[str, ...]])
    assert_type(ww.OptimalClassifier().fit(X, y).gap_, float)
    assert_type(ww.ACTClassifier().expected_cost_interval_, tuple[float, float])
    assert_type(ww.EG2Classifier().tree_, ww.Tree)
    ww.AutoClassifier(readable="yes")  # type: ignore[arg-type]
    ww.C45Classifier(prune="hard")  # type: ignore[arg-type]
    ww.DTMCClassifier(answer="both")  # type: ignore[arg-type]
    ww.ACTClassifier(variant="new")  # type: ignore[arg-type]
    ww.ICETClassifier(search="fast")  # type: ignore[arg-type]
    ww.BudgetForestClassifier(adaptive="never")  # type: ignore[arg-type]
    ww.C45CSClassifier(vector="mean")  # type: ignore[arg-type]


def scorers(costs: ww.Costs) -> None:
    from worthwhile.metrics import CostScorer, make_cost_scorer

    assert_type(make_cost_scorer(costs, tests=["a"]), CostScorer)
