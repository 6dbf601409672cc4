"""How far a fit is: the share never falls, goes by what pieces of work took, and ends at 1."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import worthwhile as ww
from worthwhile import _core
from worthwhile.learners import workload as module
from worthwhile.learners.workload import GUESSES, Piece, Workload, following, workload

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (120, 5)).astype(float)
Y = (X[:, 0] + X[:, 1] + RNG.normal(size=120) > 3).astype(int)
COSTS = ww.Costs(tests={f"x{i}": 1.0 for i in range(5)}, errors=20)


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_time_left_goes_by_what_work_of_the_same_kind_took() -> None:
    clock = Clock()
    work = Workload(clock)
    assert work.share() is None  # nothing is expected
    work.expect([Piece("tree", 1.0), Piece("tree", 3.0), Piece("ensemble", 1.0)])
    with work.doing(Piece("tree", 1.0)):
        clock.now = 2.0
    assert work.share() == pytest.approx(2 / (2 + 3 * 2 + GUESSES["ensemble"]))
    with work.doing(Piece("tree", 3.0)):
        clock.now = 5.0  # half of what it should take
        assert work.share() == pytest.approx(5 / (5 + 3 + GUESSES["ensemble"]))
        clock.now = 100.0  # far too long: it cannot be told when it ends
        assert 0.9 < (work.share() or 0) < 1.0


def test_the_share_never_falls_and_is_1_only_in_the_end() -> None:
    clock = Clock()
    work = Workload(clock)
    work.expect([Piece("search", 1.0)])
    with work.doing(Piece("search", 1.0)):
        clock.now = 9.0
    before = work.share()
    assert before == 0.99
    work.expect([Piece("search", 100.0)])  # much more than was thought
    assert work.share() == before
    work.finish()
    assert work.share() == 1.0


def test_work_that_tells_how_far_it_is_is_believed_the_more_the_further_it_is() -> None:
    clock, told = Clock(), [0.0]
    work = Workload(clock)
    work.expect([Piece("search", 1e6)])  # one second, so they say
    with work.doing_told(Piece("search", 1e6), lambda: told[0]):
        clock.now, told[0] = 10.0, 0.25
        left = 0.75 * 1.0 + 0.25 * 30.0
        assert work.share() == pytest.approx(10 / (10 + left))


def test_a_part_of_a_piece_does_not_count() -> None:
    clock = Clock()
    work = Workload(clock)
    work.expect([Piece("search", 1.0), Piece("tree", 1.0)])
    with work.doing(Piece("search", 1.0)), work.doing(Piece("tree", 1.0)):
        clock.now = 1.0
    assert [piece.kind for piece in work._expected] == ["tree"]


def test_without_a_follower_nothing_is_kept() -> None:
    workload().expect([Piece("tree", 1.0)])
    assert workload().share() is None


LEARNERS = {
    "ACT": ww.ACTClassifier(costs=COSTS, random_state=0),
    "ACT, paper": ww.ACTClassifier(costs=COSTS, random_state=0, variant="paper"),
    "ICET": ww.ICETClassifier(costs=COSTS, random_state=0, trials=60),
    "EG2": ww.EG2Classifier(costs=COSTS),
    "C4.5CS": ww.C45CSClassifier(costs=COSTS, soft_label_weight="chosen", preset="chosen", random_state=0),
    "LSID3": ww.LSID3Classifier(random_state=0),
    "forest": ww.BudgetForestClassifier(costs=COSTS, max_trees=8, random_state=0),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_says_how_far_it_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes per piece of work, whatever it is: what is expected and what is done agree."""
    clock, shares, kinds = Clock(), list[float](), list[str]()
    original = Workload.doing_told

    def doing_told(self: Workload, piece: Piece, share: Any) -> Any:
        if self._now is None:
            kinds.append(piece.kind)
            clock.now += 1.0
            shares.append(self.share() or 0.0)
        return original(self, piece, share)

    monkeypatch.setattr(Workload, "doing_told", doing_told)
    monkeypatch.setattr(Workload.__init__, "__defaults__", (clock,))
    with following() as work:
        LEARNERS[name].fit(X, Y)
    assert work.share() == 1.0
    assert shares == sorted(shares)
    assert len(kinds) >= 2 or name == "forest"
    assert not kinds or max(shares) > 0


def test_the_bar_moves_while_a_tree_is_grown() -> None:
    rng = np.random.default_rng(1)
    many = rng.normal(size=(2_000, 8))
    y = (many[:, 0] + many[:, 1] * many[:, 2] + rng.normal(size=2_000) > 0).astype(int)
    seen: list[float] = []
    done = threading.Event()
    with following() as work:

        def look() -> None:
            while not done.is_set():
                seen.append(work.share() or 0.0)
                time.sleep(0.01)

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            ww.ACTClassifier(costs=ww.Costs(errors=20), variant="paper", r=2, cross_fit=False, random_state=0).fit(
                many, y
            )
        finally:
            done.set()
            watcher.join()
    assert seen == sorted(seen)
    assert len(set(seen)) > 3


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("r", [0, 2])
def test_the_core_tells_all_of_its_work(r: int, n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    meters = []

    class Meter(_core.Meter):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            meters.append(self)

    monkeypatch.setattr(module._core, "Meter", Meter)
    ww.ACTClassifier(costs=COSTS, variant="paper", r=r, cross_fit=False, random_state=0, n_jobs=n_jobs).fit(X, Y)
    assert [meter.share for meter in meters] == [pytest.approx(1.0)]
