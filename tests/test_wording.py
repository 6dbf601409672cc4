"""Amounts, percentages and lists of names as text."""

import pytest

from worthwhile.wording import amount, enumeration, percent


@pytest.mark.parametrize(
    ("money", "text", "fine"),
    [
        (7.268, "7.27", "7.27"),
        (0.0714, "0.071", "0.071"),
        (0.0042, "0.0042", "0.0042"),
        (0.05, "0.05", "0.05"),
        (0.099, "0.099", "0.099"),
        (0.0999, "0.10", "0.100"),
        (5e-324, "0.00", "0.00"),
        (-0.0714, "-0.071", "-0.071"),
        (-1e-12, "0.00", "0.00"),
        (0.9999, "1.00", "1.00"),
        (1234.5, "1234.50", "1234.50"),
    ],
)
def test_amounts(money, text, fine):
    assert amount(money) == text
    assert amount(money, fine=True) == fine


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (0.004, "0.4 %"), (0.0095, "1 %"), (0.123, "12 %"), (1.0, "100 %")]
)
def test_percentages(share, text):
    assert percent(share) == text


def test_lists_of_names():
    assert enumeration([]) == ""
    assert enumeration(["a", "b"]) == "a and b"
    assert enumeration(["a", "b", "c"], "or") == "a, b or c"
