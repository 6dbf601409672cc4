"""Advice for worklists, compared with that for single cases."""

import math

import pandas as pd
import pytest

import worthwhile as ww


def check_row(model, got, known, pending, free=()):
    """Compare a row of advice with `next_test`."""
    one = model.next_test(known, already_paid=[*free, *pending])
    expected = "answer" if one.test is None else "wait" if one.test in pending else "order"
    assert got["action"] == expected
    assert got["tests"] == ("" if one.test is None else ";".join(dict.fromkeys([one.test, *one.order])))
    assert got["price"] == pytest.approx(one.price)
    gain = one.gain if one.test is not None else None
    assert math.isnan(got["saving"]) if gain is None else got["saving"] == pytest.approx(gain)
    problem = model.context if isinstance(model, ww.Tree) else model.problem_
    paid = problem.closure_of(free)
    assert got["spent"] == pytest.approx(problem.pricing.price(one.charged, paid, one.amounts))
    assert pd.isna(got["answer"]) if one.test is not None else got["answer"] == one.answer
    assert got["reason"] == one.reason
