"""The picture of what an AutoClassifier has tried."""

import pytest

import worthwhile as ww
from worthwhile.displays import CandidatesDisplay
from worthwhile.learners.auto.classifier import Candidate

TRIED = [Candidate("$no$ test", 12.0, (10.0, 14.0), 0.1, 5, False), Candidate("EG2", 10.0, (8.5, 11.0), 0.5, 5, True)]


def test_every_candidate_has_a_point_and_the_chosen_one_says_so():
    display = CandidatesDisplay(candidates=TRIED).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["EG2 (chosen)", "$no$ test"]
    points = [container.lines[0].get_xdata()[0] for container in display.ax_.containers]
    assert points == [10.0, 12.0]
    colours = {container.lines[0].get_color() for container in display.ax_.containers}
    assert len(colours) == 2


def test_it_needs_candidates():
    with pytest.raises(ValueError, match="there are no candidates"):
        CandidatesDisplay(candidates=[])
    with pytest.raises(ValueError, match="those of a fitted AutoClassifier, got DTMCClassifier"):
        CandidatesDisplay.from_estimator(ww.DTMCClassifier())
