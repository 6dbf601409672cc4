"""The program of a tree, followed step by step."""

import math

import numpy as np
import pandas as pd
import pytest

from exported import NAMES, cases_of, chain, check, exported_tree
from handmade import small, tree, turney
from priced_trees import priced_tree
from wildtrees import random_content
from worthwhile.export import program as programs
from worthwhile.export.program import Cut, ExportError, ProgramStep, Refusal, Verdict, decision_program


def follow(program, case):
    """The end of a program for a case."""
    step = program.root
    while isinstance(step, ProgramStep):
        value = case[program.tree.columns[step.test]]
        values = program.tree.schema.values[step.test]
        if pd.isna(value) or (values is not None and value not in values):
            step = step.missing
        elif values is None:
            below = [value < cut.value or (value == cut.value and not cut.strict) for cut in step.parts]
            step = step.children[below.index(True) if True in below else len(below)]
        else:
            step = step.children[next(at for at, part in enumerate(step.parts) if value in part)]
    return step


@pytest.mark.parametrize("name", NAMES)
def test_every_path_ends_as_the_tree_says(name):
    model = exported_tree(name)
    program = decision_program(model)
    X = cases_of(model)
    ends = [follow(program, case) for case in X.to_dict("records")]
    assert len(X) >= program.size
    check(model, X, [model.answers[end.answer] for end in ends], [end.price for end in ends])


@pytest.mark.parametrize("seed", range(100, 130))
def test_random_trees_with_every_kind_of_price(seed):
    rng = np.random.default_rng(seed)
    model = priced_tree(rng, caps=False, complete=True)
    program = decision_program(model)
    X = cases_of(model)
    ends = [follow(program, case) for case in X.to_dict("records")]
    check(model, X, [model.answers[end.answer] for end in ends], [end.price for end in ends])


@pytest.mark.parametrize("seed", range(12))
def test_without_rules_for_missing_values_these_are_refused(seed):
    model = priced_tree(np.random.default_rng(seed), complete=True)  # with caps
    program = decision_program(model, missing=False)
    X = cases_of(model, missing=False)
    ends = [follow(program, case) for case in X.to_dict("records")]
    check(model, X, [model.answers[end.answer] for end in ends], [end.price for end in ends])
    nothing = dict.fromkeys(model.columns)
    end = follow(program, nothing)
    if model.n_nodes > 1:
        assert end == Refusal(int(model.nodes.test[0]))


def test_a_committed_test_that_is_missing_is_refused_too():
    program = decision_program(tree(turney()), missing=False)
    case = {"alpha": 3.0, "beta": None, "delta": "3", "epsilon": 1.0}
    assert follow(program, case) == Refusal(1)  # the order includes beta, so the price is not known
    assert follow(program, case | {"beta": 1.0}) == Verdict(0, 30.0)


def test_what_cannot_be_written_is_named():
    with pytest.raises(ExportError, match=r"with a cap \(9\), which tests a case with a missing value may still order"):
        decision_program(tree(small(cap=9)))
    assert decision_program(tree(small(cap=9)), missing=False).size > 1
    content = next(
        c for c in (random_content(np.random.default_rng(s)) for s in range(50)) if "[['a'], ['b']]" in str(c)
    )
    with pytest.raises(ExportError, match="has no branch for the value 'c' of the test 'c"):
        decision_program(tree(content))
    with pytest.raises(ExportError, match="the tree is 101 tests deep; at most 100 can be written"):
        decision_program(tree(small(nodes=chain(101))))


def test_too_many_rules_are_refused(monkeypatch):
    model = exported_tree("loans")
    monkeypatch.setattr(programs, "MAX_RULES", 3)
    with pytest.raises(ExportError, match=r"rules, at most 3 can be written; refuse missing values instead"):
        decision_program(model)
    monkeypatch.setattr(programs, "MAX_WALKS", 3)
    with pytest.raises(ExportError, match="more than 3 rules for missing values"):
        decision_program(model)


def test_numbers_between_cuts():
    assert programs._number_in(((1.0, 1), (math.nextafter(1.0, 2), 0))) is None
    assert programs._number_in(((1.0, 0), (1.0, 1))) == 1.0
    assert programs._number_in(programs.EVERYTHING) == 0.0
    assert Cut(1.0, strict=True).place < Cut(1.0).place


def test_equal_ends_are_one_question():
    content = small()
    content["costs"]["tests"] = {}
    content["nodes"][4]["answer"] = "yes"
    root = decision_program(tree(content)).root
    assert isinstance(root.children[1], Verdict)  # both ends below y are the same
