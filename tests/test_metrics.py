"""The module of the public metrics."""

import pytest

import worthwhile as ww
from worthwhile.evaluation import metrics, scorers


def test_all_names_are_there():
    assert set(ww.metrics.__all__) >= set(metrics.__all__)
    assert ww.metrics.make_cost_scorer is scorers.make_cost_scorer
    assert ww.metrics.cost_scorer is scorers.cost_scorer
    for name in ww.metrics.__all__:
        assert getattr(ww.metrics, name) is not None
    with pytest.raises(AttributeError, match=r"module 'worthwhile\.metrics' has no attribute 'nothing'"):
        ww.metrics.nothing  # noqa: B018
