import pytest

from cascade_problems import fitted


@pytest.fixture(scope="session")
def clf():
    return fitted()


@pytest.fixture(scope="session")
def gappy():
    """Learned from cases of which a tenth of the values is missing."""
    return fitted(missing=0.1)
