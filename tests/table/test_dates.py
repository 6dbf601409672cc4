"""Dates as numbers: which texts are dates, and which are refused."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from worthwhile.table.dates import DateFormatError, datetimes, days_of, days_of_array, parse_dates

WHEN = dt.datetime(2024, 3, 31, 13, 45)


@given(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(2999, 1, 1)).map(lambda when: when.replace(microsecond=0)))
def test_every_form_gives_the_same_day(when):
    forms = ["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S"]
    wanted = pytest.approx(days_of(when), abs=1e-9)
    assert parse_dates([when.strftime(form) for form in forms]) == [wanted] * len(forms)
    assert parse_dates([when.strftime("%d/%m/%Y %H:%M:%S")], "dmy") == [wanted]
    assert parse_dates([when.strftime("%m-%d-%Y %H:%M:%S")], "mdy") == [wanted]
    assert days_of_array(np.array([when], dtype="datetime64[s]")).tolist() == [wanted]


def test_zones_and_fractions_of_seconds():
    assert parse_dates(["1970-01-01T02:00+02:00", "1970-01-01T00:00-0600"]) == [0.0, 0.25]
    assert parse_dates(["1970-01-01 00:00:00.5"]) == [0.5 / 86_400]
    zone = dt.timezone(dt.timedelta(hours=12))
    assert days_of(dt.datetime(1970, 1, 1, 12, tzinfo=zone)) == 0.0


def test_other_dates_tell_which_comes_first():
    third_of_april = days_of(dt.date(2024, 4, 3))
    assert parse_dates(["03/04/2024", "25/12/2024"])[0] == third_of_april
    assert parse_dates(["04/03/2024", "12/25/2024"])[0] == third_of_april
    assert parse_dates(["04/04/2024"]) == [third_of_april + 1]  # the same either way
    with pytest.raises(DateFormatError) as error:
        parse_dates(["04/04/2024", "03/04/2024"])
    assert error.value.example == "03/04/2024"
    assert "--dates dmy" in error.value.advice


@pytest.mark.parametrize(
    "texts", [["2024-02-30"], ["25/12/2024", "12/25/2024"], ["soon"], ["2024-01-01", "x"], ["1.2.3"], ["20240331"]]
)
def test_what_is_not_a_date(texts):
    assert parse_dates(texts) is None


def test_years_with_two_digits_are_refused():
    for text in ("31.03.24", "3/31/24", "31-03-24"):
        with pytest.raises(DateFormatError) as error:
            parse_dates([text])
        assert error.value.advice == "write years with four digits"
    assert parse_dates(["99/99/24"]) is None


@given(
    st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)).map(lambda when: when.replace(microsecond=250_000))
)
def test_dates_come_back_exactly(when):
    """A threshold may be a date of a training case, which a file gives as text and learners as a date."""
    days = parse_dates([when.isoformat()])[0]
    assert datetimes(np.array([days])).tolist() == [when]
    assert days == days_of(when) == days_of_array(np.array([when], dtype="M8[us]"))[0]
    assert parse_dates([f"{when.isoformat()}+05:30"])[0] == days_of(when - dt.timedelta(hours=5, minutes=30))
