"""What tests and surcharges cost each case: amounts by case, which the core adds up (docs/design/pricing.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from worthwhile.costs.error_costs import label_key, plain_label, show
from worthwhile.costs.surcharges import Condition, largest_discount
from worthwhile.table.columns import Columns
from worthwhile.table.schema import Schema

if TYPE_CHECKING:
    from worthwhile.costs.bound_costs import BoundCosts
    from worthwhile.costs.costs import Prices

__all__ = [
    "amounts_of_case",
    "case_amounts",
    "check_conditions",
    "condition_holds",
    "conditions_of",
    "surcharges_apply",
    "truth_shares",
]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def case_amounts(
    bound: BoundCosts, names: Sequence[str], given: Floats | None, applies: Bools, truth: Floats | None
) -> Floats | None:
    """Return the price of every test and the amount of every surcharge for each case; None if all cases pay the same.

    Parameters
    ----------
    bound : BoundCosts
    names : sequence of str
        The tests.
    given : array of shape (cases, tests), optional
        Prices of tests that depend on the case.
    applies : array of shape (cases, surcharges)
        Where the conditions on results hold.
    truth : array of shape (cases, surcharges), optional
        How probable it is that the case has the class of the surcharge.
    """
    prices = bound.prices
    if given is None and not prices.surcharges:
        return None
    n = len(applies)
    tests = np.broadcast_to(prices.marginal, (n, len(prices.marginal))) if given is None else given
    surcharges = applies * prices.surcharge_amount
    if truth is not None:
        surcharges = surcharges * truth
    if given is not None and len(prices.surcharges):
        _check_not_negative(prices, names, given)
    return np.ascontiguousarray(np.hstack([tests, surcharges]), dtype=np.float64)


def _check_not_negative(prices: Prices, names: Sequence[str], given: Floats) -> None:
    """Refuse prices by case from which discounts could take more than there is."""
    discount = np.zeros(len(prices.marginal))
    for test in np.unique(prices.surcharge_test).tolist():
        own = [s for s, of in zip(prices.surcharges, prices.surcharge_test.tolist(), strict=True) if of == test]
        discount[test] = largest_discount(own)
    for row, test in np.argwhere(given + discount < -1e-9 * np.abs(given))[:1]:
        raise ValueError(
            f"case_prices: row {row} has the price {given[row, test]:g} for test {show(names[test])}, "
            f"but its discounts add up to {-discount[test]:g}: a price must not fall below 0"
        )


def surcharges_apply(schema: Schema, prices: Prices, columns: Columns, not_known: Bools | None = None) -> Bools:
    """Return where the conditions on results hold, without those on the class: (cases, surcharges).

    `not_known` says of which tests (cases, tests) the result is still to come: it may meet any condition.
    """
    found = np.ones((columns.n_cases, len(prices.surcharges)), dtype=np.bool_)
    if not prices.surcharges:
        return found
    arrays = schema.arrays(columns)
    for s, conditions in enumerate(conditions_of(schema, prices)):
        for column, condition in conditions:
            holds = condition_holds(schema.values[column], condition, arrays[column])
            found[:, s] &= holds if not_known is None else holds | not_known[:, column]
    return found


def conditions_of(schema: Schema, prices: Prices) -> list[list[tuple[int, Condition]]]:
    """Return the conditions of each surcharge on columns: its own result, and those of others."""
    found = []
    for test, surcharge in zip(prices.surcharge_test.tolist(), prices.surcharges, strict=True):
        named = {schema.position[name]: given for name, given in surcharge.where.items()}
        if surcharge.result is not None:
            named[test] = surcharge.result
        found.append([(column, Condition.parse(given, "condition")) for column, given in named.items()])
    return found


def condition_holds(values: tuple[str, ...] | None, condition: Condition, array: npt.NDArray[Any]) -> Bools:
    """Return where the values of a column, as the core has them, meet a condition; a missing value meets none."""
    if values is None:
        return np.asarray(condition.of_numbers(array), dtype=np.bool_)
    meets = np.array([*(condition.holds(value) for value in values), False])  # the last one is for the code -1
    return meets[np.where((array >= 0) & (array < len(values)), array, len(values))]


def check_conditions(schema: Schema, prices: Prices) -> None:
    """Refuse comparisons with nominal columns, and texts where a column has numbers."""
    for test, conditions in zip(prices.surcharge_test.tolist(), conditions_of(schema, prices), strict=True):
        for column, condition in conditions:
            name, own = schema.names[column], schema.names[test]
            what = f"a surcharge of test {show(own)} has the condition {condition.text()!r} on {show(name)}"
            if condition.is_comparison and schema.values[column] is not None:
                raise ValueError(f"{what}, which is nominal; name its values instead")
            if schema.values[column] is None and not condition.is_comparison:
                texts = [value for value in condition.values if isinstance(value, str) and not _is_number(value)]
                if texts:
                    raise ValueError(f"{what}, which is numeric; use a number or a comparison such as '< 1'")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def truth_shares(prices: Prices, labels: Sequence[Any], shares: Floats) -> Floats | None:
    """Return how probable each case has the class of each surcharge; 1 for surcharges of all classes.

    Parameters
    ----------
    prices : Prices
    labels : sequence of classes
        The classes of the columns of `shares`.
    shares : array of shape (cases, classes)
        Class probabilities; 0 and 1 where the true class is known.
    """
    if all(surcharge.truth is None for surcharge in prices.surcharges):
        return None
    place = {label_key(plain_label(label)): at for at, label in enumerate(labels)}
    found = np.ones((len(shares), len(prices.surcharges)))
    for s, surcharge in enumerate(prices.surcharges):
        if surcharge.truth is not None:
            at = place.get(label_key(surcharge.truth))
            found[:, s] = 0.0 if at is None else shares[:, at]
    return found


def amounts_of_case(
    schema: Schema,
    prices: Prices,
    conditions: Sequence[Sequence[tuple[int, Condition]]],
    case: Mapping[int, float],
    expected: Sequence[float] | None,
    truth: Sequence[float],
) -> list[float]:
    """Return the price of every test and the amount of every surcharge for one case, as far as it is known.

    Parameters
    ----------
    conditions : list
        What `conditions_of` found.
    case : mapping of column to number or code
        As read by `Schema.read_case`.
    expected : sequence of float, optional
        What each surcharge is expected to add where the case stands; used where a result is not known.
    truth : sequence of float
        How probable it is that the case has the class of each surcharge.
    """
    amounts: list[float] = prices.marginal.tolist()
    for s, (listed, own) in enumerate(zip(prices.surcharge_amount.tolist(), conditions, strict=True)):
        if not own:
            amounts.append(listed * truth[s])
            continue
        held = [_case_holds(schema, column, condition, case) for column, condition in own]
        if any(hold is False for hold in held):
            amounts.append(0.0)
        elif all(held):
            amounts.append(listed * truth[s])
        else:  # a result is not known yet
            amounts.append(listed * truth[s] if expected is None else float(expected[s]))
    return amounts


def _case_holds(schema: Schema, column: int, condition: Condition, case: Mapping[int, float]) -> bool | None:
    """Return whether a case meets a condition; None if its value is not known yet."""
    if column not in case:
        return None
    return bool(
        condition_holds(schema.values[column], condition, np.array([case[column]], dtype=_kind(schema, column)))[0]
    )


def _kind(schema: Schema, column: int) -> Any:
    return np.float64 if schema.values[column] is None else np.int32
