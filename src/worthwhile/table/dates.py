"""Dates as numbers: days since 1970-01-01, with the time of day as a fraction; a span of time in days, too."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "DATE_ORDERS",
    "DateFormatError",
    "date_text",
    "datetimes",
    "days_of",
    "days_of_array",
    "is_date",
    "parse_dates",
]

DATE_ORDERS = ("dmy", "mdy")  # which comes first in 03/04/2024: the day or the month
EPOCH = dt.datetime(1970, 1, 1)
DAY = dt.timedelta(days=1)
MICROSECONDS = 86_400_000_000.0  # of a day
_TIME = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?(Z|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _TIME)
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})" + _TIME)  # the day is always first
_SLASHED = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})" + _TIME)
_SHORT_YEAR = re.compile(r"(\d{1,2})/(\d{1,2})/\d{2}|(\d{2})([.-])(\d{2})\4\d{2}")


class DateFormatError(Exception):
    """Dates that can be read in several ways; `example` is one of them, `advice` says what to do."""

    def __init__(self, example: str, advice: str) -> None:
        super().__init__(example)
        self.example, self.advice = example, advice


def is_date(value: Any) -> bool:
    """Return whether a value is a date, a date with a time, or a span of time."""
    return isinstance(value, (dt.date, dt.timedelta, np.datetime64, np.timedelta64))


def days_of(value: Any) -> float:
    """Return a date as days since 1970-01-01; a time with a zone is converted to UTC.

    Examples
    --------
    >>> days_of(dt.date(1970, 1, 3)), days_of(dt.datetime(1970, 1, 1, 12)), days_of(dt.timedelta(hours=6))
    (2.0, 0.5, 0.25)
    """
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return float(days_of_array(np.array([value]))[0])
    if isinstance(value, dt.timedelta):
        return value / DAY
    if not isinstance(value, dt.datetime):
        return float((value - EPOCH.date()).days)
    if value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return (value - EPOCH) / DAY


def days_of_array(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return an array of numpy's dates or spans of time in days; NaT becomes NaN.

    Examples
    --------
    >>> days_of_array(np.array(["1970-01-02", "NaT"], dtype="datetime64[D]")).tolist()
    [1.0, nan]
    """
    fine = values.astype(f"{values.dtype.kind}8[us]")
    found = fine.astype(np.int64) / MICROSECONDS
    found[np.isnat(fine)] = np.nan
    return found


def datetimes(days: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return days as `datetime.datetime` objects, exact to the millisecond; None for NaN.

    Examples
    --------
    >>> datetimes(np.array([1.5, np.nan])).tolist()
    [datetime.datetime(1970, 1, 2, 12, 0), None]
    """
    known = ~np.isnan(days)
    found = np.full(len(days), np.datetime64("NaT"), dtype="M8[ms]")
    found[known] = np.rint(days[known] * 86_400_000).astype(np.int64)
    return found.astype("M8[us]").astype(object)


def date_text(days: float) -> str:
    """Return a date as text, with the time if it is not midnight.

    Examples
    --------
    >>> date_text(19813.0), date_text(19813.5), date_text(1e300)
    ('2024-03-31', '2024-03-31 12:00', '1e+300')
    """
    try:
        when = EPOCH + dt.timedelta(days=days)
    except OverflowError:
        return f"{days:g}"
    if when.time() == dt.time():
        return when.date().isoformat()
    return when.isoformat(" ", "seconds" if when.second or when.microsecond else "minutes")


def parse_dates(texts: Iterable[str], order: str | None = None) -> list[float] | None:
    """Return texts as days since 1970-01-01, or None if some text is not a date.

    Parameters
    ----------
    texts : iterable of str
        Dates as 2024-03-31, 2024/3/31, 31.3.2024, 31/03/2024 or 03/31/2024, with or without a time.
    order : {"dmy", "mdy"}, optional
        Which comes first in 03/04/2024: the day or the month. None: find out from the other dates.

    Raises
    ------
    DateFormatError
        If it remains unclear, or if years have two digits.

    Examples
    --------
    >>> parse_dates(["1970-01-02", "02.01.1970 12:00"]), parse_dates(["1970-01-02", "soon"])
    ([1.0, 1.5], None)
    """
    texts = list(texts)
    slashed = []
    short = None
    for text in texts:
        if found := _SLASHED.fullmatch(text):
            slashed.append((int(found[1]), int(found[3]), text))
        elif found := _SHORT_YEAR.fullmatch(text):
            if not _may_be_day_and_month(*(int(part) for part in (found[1] or found[3], found[2] or found[5]))):
                return None
            short = short or text
        elif not (_YEAR_FIRST.fullmatch(text) or _DOTTED.fullmatch(text)):
            return None
    if short is not None:
        raise DateFormatError(short, "write years with four digits")
    if slashed and order is None:
        order = _order_of(slashed)
        if order is None:
            return None
    try:
        return [_parse(text, order) for text in texts]
    except ValueError:  # there is no 31 February
        return None


def _may_be_day_and_month(first: int, second: int) -> bool:
    return 1 <= min(first, second) <= 12 and max(first, second) <= 31


def _order_of(slashed: list[tuple[int, int, str]]) -> str | None:
    """Find out which comes first, the day or the month; None: these are not dates."""
    day_first = any(first > 12 for first, _, _ in slashed)
    month_first = any(second > 12 for _, second, _ in slashed)
    if day_first and month_first:
        return None
    if not day_first and not month_first and any(first != second for first, second, _ in slashed):
        example = next(text for first, second, text in slashed if first != second)
        raise DateFormatError(example, "use --dates dmy if the day comes first, --dates mdy if the month comes first")
    return "dmy" if day_first else "mdy"


def _parse(text: str, order: str | None) -> float:
    if found := _YEAR_FIRST.fullmatch(text):
        year, _, month, day, *clock = found.groups()
    elif found := _DOTTED.fullmatch(text):
        day, month, year, *clock = found.groups()
    elif found := _SLASHED.fullmatch(text):
        first, _, second, year, *clock = found.groups()
        day, month = (first, second) if order == "dmy" else (second, first)
    else:
        raise ValueError(text)
    hours, minutes, seconds, fraction, zone = clock
    when = dt.datetime(int(year), int(month), int(day), int(hours or 0), int(minutes or 0), int(seconds or 0))
    since = when - EPOCH + dt.timedelta(seconds=float(f"0.{fraction or 0}"))
    if zone and zone != "Z":
        offset = dt.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        since -= offset if zone[0] == "+" else -offset
    return since / DAY
