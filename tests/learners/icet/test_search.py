"""ICET's searches: generations, single steps and finals, on trials that cost what a formula says."""

from types import SimpleNamespace

import numpy as np
import pytest

import worthwhile as ww
from worthwhile.learners import deadline
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.growth_policy import NO_LIMIT
from worthwhile.learners.icet.biases import RealSpace, RefinedSpace
from worthwhile.learners.icet.search import paper_search, refined_search
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS


class Priced:
    """Trials by a formula: 100 less what the available tests are worth; the time lasts for `lasts` individuals."""

    def __init__(self, worth, lasts=10**9):
        self.worth, self.left = np.array(worth), lasts

    def costs(self, biases, seconds):
        costs = 100.0 - np.isfinite(biases.prices) @ self.worth
        costs[self.left :] = np.nan
        self.left = max(self.left - len(costs), 0)
        return costs


def test_the_paper_search_trusts_the_best_trial():
    settings = ww.ICETClassifier(variant="paper", trials=60, population=20)
    steps = list(
        paper_search(settings, RealSpace(np.ones(3)), Priced([1, 2, 4]), Deadline(None), np.random.default_rng(0))
    )
    assert [step.trials for step in steps] == [20, 40, 60]
    assert steps[-1].cost == 93.0
    assert np.isfinite(steps[-1].best.prices).all()


def test_the_paper_search_counts_what_was_ready_in_time():
    settings = ww.ICETClassifier(variant="paper", trials=60, population=20, seeded=False)
    trials = Priced([1, 2, 4], lasts=27)
    steps = list(paper_search(settings, RealSpace(np.ones(3)), trials, Deadline(None), np.random.default_rng(0)))
    assert [step.trials for step in steps] == [20, 27]


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("seeded", [True, False])
def test_single_steps_finish_what_evolution_began(real, seeded):
    # Six tests help, six do harm: the best of 4096 is not among the seeds, and evolution of so few hardly finds it.
    worth = [3, -2, 1, -1, 2, -3, 1, -1, 1, -1, 1, -1]
    settings = ww.ICETClassifier(trials=3_000, population=10, seeded=seeded)
    space = RefinedSpace(np.ones(12), real, 3)
    search, final = Priced(worth), Priced(worth)
    *_, last = refined_search(settings, space, search, final, Deadline(None), np.random.default_rng(0), 5, 0.0)
    assert np.isfinite(last.best.prices[0]).tolist() == [w > 0 for w in worth]
    assert last.cost == 91.0


def test_a_lucky_search_does_not_survive_the_final():
    settings = ww.ICETClassifier(trials=500, population=10)
    space = RefinedSpace(np.ones(3), True, 1)
    search, final = Priced([5, 5, 5]), Priced([-5, -5, -5])
    *_, last = refined_search(settings, space, search, final, Deadline(None), np.random.default_rng(0), 5, 0.0)
    assert np.isinf(last.best.prices).all()  # no test at all is always there
    assert last.cost == 100.0


@pytest.mark.parametrize(("margin", "cost"), [(0.0, 95.0), (0.01, 95.0), (0.03, 97.0), (1.0, 97.0)])
def test_what_was_searched_for_must_beat_the_reference_by_a_margin(margin, cost):
    # The first test helps, the others do harm. The reference has them all: 97 against 95 of the best.
    settings = ww.ICETClassifier(trials=500, population=10)
    space = RefinedSpace(np.ones(3), True, 3)
    search, final = Priced([5, -1, -1]), Priced([5, -1, -1])
    *_, last = refined_search(settings, space, search, final, Deadline(None), np.random.default_rng(0), 5, margin)
    assert last.cost == cost
    assert np.isfinite(last.best.prices[0]).tolist() == [True, cost == 97, cost == 97]
    if cost == 97:
        assert last.best.omega[0] == pytest.approx(0.25, abs=0.002)
        assert last.best.confidence[0] == pytest.approx(0.75, abs=0.002)
        assert (last.best.max_depth[0], SOFT_LABEL_WEIGHTS[last.best.soft_label_weight[0]]) == (NO_LIMIT, 1.0)


def test_the_reference_by_own_labels_prunes_as_usual():
    space = RefinedSpace(np.array([2.0, 6.0]), True, 1)
    reference = space.decode(space.reference()[None, :])
    assert reference.confidence[0] == pytest.approx(0.25, abs=0.002)
    assert SOFT_LABEL_WEIGHTS[reference.soft_label_weight[0]] == 0.0
    np.testing.assert_allclose(reference.prices, [[5.0, 15.0]])


def test_without_time_for_the_final_the_search_decides():
    settings = ww.ICETClassifier(trials=500, population=10)
    space = RefinedSpace(np.ones(3), True, 1)
    final = Priced([-5, -5, -5], lasts=1)
    *_, last = refined_search(
        settings, space, Priced([5, 5, 5]), final, Deadline(None), np.random.default_rng(0), 5, 0.0
    )
    assert last.cost == 85.0


def test_a_limited_search_keeps_time_for_its_final(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: now[0]))

    class Slow:
        """A second for every individual."""

        def __init__(self):
            self.had = []

        def costs(self, biases, seconds):
            self.had.append(seconds)
            ready = np.arange(1, len(biases) + 1) <= seconds
            now[0] += min(float(len(biases)), seconds)
            return np.where(ready, 50.0 + np.arange(len(biases)), np.nan)

    settings = SimpleNamespace(seeded=True, population=50, trials=1000, crossover=0.6, mutation=0.001)
    search, final = Slow(), Slow()
    space = RefinedSpace(np.array([1.0, 2.0]), True, 3)
    *_, last = refined_search(settings, space, search, final, Deadline(100.0), np.random.default_rng(0), 5, 0.0)
    assert now[0] <= 100
    assert search.had[0] == 80  # ten at a time, up to four fifths of the limit
    assert min(search.had) > 0
    assert final.had[0] >= 20
    assert (last.trials, last.late) == (80, True)
