"""Deadlines, by a clock that is set by hand."""

import math
from types import SimpleNamespace

import pytest

from worthwhile.learners import deadline
from worthwhile.learners.deadline import Deadline


@pytest.fixture
def clock(monkeypatch):
    """A clock that shows what is set."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def test_the_time_runs_from_the_start(clock):
    limit = Deadline(10.0)
    assert (limit.elapsed(), limit.remaining()) == (0.0, 10.0)
    clock.now += 4
    assert (limit.elapsed(), limit.remaining()) == (4.0, 6.0)
    clock.now += 7
    assert (limit.elapsed(), limit.remaining()) == (11.0, 0.0)


def test_the_time_may_have_begun_earlier(clock):
    limit = Deadline(10.0, start=995.0)
    assert (limit.elapsed(), limit.remaining()) == (5.0, 5.0)
    assert limit.fraction(0.6).remaining() == 1.0


def test_without_a_limit_there_is_always_time(clock):
    limit = Deadline(None)
    clock.now += 1e9
    assert (limit.elapsed(), limit.remaining()) == (1e9, math.inf)
    assert limit.fraction(0.1).remaining() == math.inf


def test_a_fraction_has_the_same_start(clock):
    limit = Deadline(10.0)
    clock.now += 5
    part = limit.fraction(0.8)
    assert (part.elapsed(), part.remaining(), limit.remaining()) == (5.0, 3.0, 5.0)
    clock.now += 4
    assert (part.remaining(), limit.remaining()) == (0.0, 1.0)


def test_time_can_be_set_aside(clock):
    limit = Deadline(10.0)
    limit.set_aside(1.0)
    limit.set_aside(2.0)
    assert limit.remaining() == 7.0
    assert limit.fraction(0.5).remaining() == 3.5
    limit.set_aside(100.0)  # at most a half
    clock.now += 1
    assert limit.remaining() == 4.0
