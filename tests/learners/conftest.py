import pytest

from worthwhile.learners.soft_labels import remember_ensembles


@pytest.fixture(scope="module")
def remembered_ensembles():
    """Fit an ensemble only once to the same cases: it takes four fifths of a short fit of the refined learners."""
    with remember_ensembles():
        yield
