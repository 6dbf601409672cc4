"""`Costs`: prices of tests and costs of errors.

Every learner, tree and metric uses the same `Costs`. They are immutable, so estimators can share them. docs/costs.md
is the user guide; docs/design/pricing.md defines exactly how a test is priced.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from worthwhile.costs.error_costs import (
    CostsError,
    ErrorTable,
    is_missing,
    label_key,
    listing,
    nearest,
    number,
    plain_label,
    show,
    suggest,
)
from worthwhile.costs.price_list import (
    Test,
    check_about,
    check_groups,
    check_test,
    check_waiting,
    find_closures,
    name_items,
    waiting_price,
)
from worthwhile.costs.surcharges import Condition, Surcharge, check_surcharges

__all__ = ["Costs", "Prices", "Test"]


@dataclass(frozen=True, eq=False)
class Prices:
    """The prices of a table's columns as arrays, in column order, for the compiled core; see `Costs.prices_for`.

    Attributes
    ----------
    marginal : float64 (d,)
        Price of each column, without its groups' common prices.
    group_start : int32 (d + 1,)
    group_list : int32
        ``group_list[group_start[t]:group_start[t + 1]]`` are the indices of the groups of column t.
    common : float64 (g,)
        Common price of each group.
    delayed : uint8 (d,)
        1 for delayed tests.
    closure_start : int32 (d + 1,)
    closure_tests : int32
        ``closure_tests[closure_start[t]:closure_start[t + 1]]`` is t, then all tests it requires, directly or not.
    wait : float64 (d,)
        How long the result of each test takes.
    waiting : float64 (p, 2)
        Points (time, price) of what waiting costs; none if it costs nothing.
    surcharge_test : int32 (m,)
        The column that each surcharge belongs to.
    surcharge_amount : float64 (m,)
    after_start : int32 (m + 1,)
    after_tests : int32
        ``after_tests[after_start[s]:after_start[s + 1]]`` are the columns that must be done before for surcharge s.
    after_any_start : int32 (m + 1,)
    after_any_tests : int32
        In the same way: columns of which one must be done before; any number if there are none.
    surcharges : tuple of Surcharge
        Their other conditions, in the same order.
    """

    marginal: np.ndarray
    group_start: np.ndarray
    group_list: np.ndarray
    common: np.ndarray
    delayed: np.ndarray
    closure_start: np.ndarray
    closure_tests: np.ndarray
    wait: np.ndarray
    waiting: np.ndarray
    surcharge_test: np.ndarray
    surcharge_amount: np.ndarray
    after_start: np.ndarray
    after_tests: np.ndarray
    after_any_start: np.ndarray
    after_any_tests: np.ndarray
    surcharges: tuple[Surcharge, ...]

    def groups_of(self, column: int) -> list[int]:
        """Return the indices of the groups of a column."""
        found: list[int] = self.group_list[self.group_start[column] : self.group_start[column + 1]].tolist()
        return found

    def members(self, group: int) -> np.ndarray:
        """Return which columns belong to a group."""
        found = np.zeros(len(self.marginal), dtype=np.bool_)
        found[np.repeat(np.arange(len(self.marginal)), np.diff(self.group_start))[self.group_list == group]] = True
        return found

    def full_prices(self) -> np.ndarray:
        """Return the price of each column as the first test of its groups, without what it requires."""
        total = self.marginal.copy()
        if not len(self.group_list):
            return total
        np.add.at(total, np.repeat(np.arange(len(total)), np.diff(self.group_start)), self.common[self.group_list])
        return total


class Costs:
    """What tests and errors cost.

    Parameters
    ----------
    tests : mapping, optional
        Price of each test by the name of its column: a number, a `Test`, or a mapping with the fields of `Test`.
        Columns without a price are free.
    groups : mapping, optional
        Common price of each group of tests, charged once per case.
    errors : number, mapping, DataFrame or matrix, default 1.0
        Cost of a wrong answer: one number for all, ``{truth: {answer: cost}}`` (a missing diagonal is 0), a
        DataFrame with truth as index and answers as columns, or a matrix ``errors[truth][answer]`` together with
        `classes`. Costs may be negative (a benefit), correct answers may have a cost, and an answer that is not a
        true class, such as "unknown", is a reject answer.
    classes : sequence, optional
        Names of the columns of a matrix; the first ones also name its rows.
    waiting : number or sequence of (time, price), optional
        What it costs to wait for results: a price per unit of time, or points of a curve, which starts at (0, 0) and
        goes on with its last slope. Tests ordered together wait together, the longest counts; orders one after another
        add up. See the field `wait` of `Test`.
    about : mapping of str to str, optional
        Title, source, currency, licence ...: kept and written to files, ignored by learners.
    currency : str, optional
        What all amounts are in, e.g. "EUR" or "€"; shown with them. The same as ``about={"currency": ...}``.

    Examples
    --------
    >>> costs = Costs(
    ...     tests={"age": 1.0, "chol": Test(5.17, group="blood", delayed=True), "fbs": Test(3.10, group="blood")},
    ...     groups={"blood": 2.10},
    ...     errors={"sick": {"buff": 500.0}, "buff": {"sick": 100.0}},
    ... )
    >>> costs
    Costs(3 tests for 11.37 together, 1 delayed, 1 group, errors of 2 classes)
    >>> Costs()
    Costs(no tests, errors 1)
    """

    _tests: dict[str, Test]
    _groups: dict[str, float]
    _errors: ErrorTable
    _about: dict[str, str]
    _waiting: tuple[tuple[float, float], ...]
    _closures: dict[str, tuple[str, ...]]

    def __init__(
        self,
        tests: Mapping[str, Any] | None = None,
        groups: Mapping[str, float] | None = None,
        errors: Any = 1.0,
        classes: Sequence[Any] | None = None,
        about: Mapping[str, str] | None = None,
        currency: str | None = None,
        waiting: Any = None,
    ) -> None:
        checked_groups = check_groups(groups)
        checked = {name: check_test(name, test, checked_groups) for name, test in name_items(tests, "tests", "test")}
        unused = set(checked_groups) - {group for test in checked.values() for group in test.groups}
        for name in checked_groups:
            if name in unused:
                raise CostsError(
                    f"group {show(name)} has no test; give a test group={show(name)} or remove the group",
                    ("group", name),
                )
        table = ErrorTable.parse(errors, classes)
        _check_truths(checked, table)
        notes = check_about(about)
        if currency is not None:
            if notes.get("currency", currency) != currency:
                other = f"but about has the currency {show(notes['currency'])}"
                raise CostsError(f"currency is {show(currency)}, {other}", ("about", "currency"))
            notes |= check_about({"currency": currency})
        self._set(checked, checked_groups, table, notes, check_waiting(waiting))

    def _set(
        self,
        tests: dict[str, Test],
        groups: dict[str, float],
        errors: ErrorTable,
        about: dict[str, str],
        waiting: tuple[tuple[float, float], ...],
    ) -> None:
        closures = find_closures(tests)
        state = {"_tests": tests, "_groups": groups, "_errors": errors, "_about": about, "_closures": closures}
        self.__dict__.update(state, _waiting=waiting)  # not by assignment: costs are immutable

    def _copy(
        self,
        tests: dict[str, Test] | None = None,
        groups: dict[str, float] | None = None,
        errors: ErrorTable | None = None,
        waiting: tuple[tuple[float, float], ...] | None = None,
    ) -> Costs:
        """Return a copy with some parts replaced; the new parts must be checked already."""
        copy = object.__new__(type(self))
        copy._set(
            self._tests if tests is None else tests,
            self._groups if groups is None else groups,
            self._errors if errors is None else errors,
            self._about,
            self._waiting if waiting is None else waiting,
        )
        return copy

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Costs are immutable: cannot set {name!r}; create new costs, e.g. with with_errors(...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"Costs are immutable: cannot delete {name!r}")

    def __copy__(self) -> Costs:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Costs:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Costs):
            return NotImplemented
        return self._compared() == other._compared()

    def _compared(self) -> tuple[Any, ...]:
        return self._tests, self._groups, self._errors.with_string_labels(), self._about, self._waiting

    def __hash__(self) -> int:
        return hash((frozenset(self._tests.items()), frozenset(self._groups.items())))

    def __repr__(self) -> str:
        parts = [f"{_count(self._tests, 'test')} for {self.total_price():g} together" if self._tests else "no tests"]
        delayed = sum(test.delayed for test in self._tests.values())
        computed = sum(bool(test.requires) for test in self._tests.values())
        waits = sum(bool(test.wait) for test in self._tests.values())
        surcharges = sum(len(test.surcharges) for test in self._tests.values())
        parts += [f"{n} {word}" for n, word in ((delayed, "delayed"), (computed, "computed")) if n]
        parts += [f"{waits} with a wait"] if waits else []
        parts += [f"{surcharges} surcharge{'s' * (surcharges > 1)}"] if surcharges else []
        parts += [_count(self._groups, "group")] if self._groups else []
        errors = self._errors
        if errors.uniform is not None:
            parts.append(f"errors {errors.uniform:g}")
        else:
            rejects = len(errors.answers) - len(errors.truths)
            classes = f"{len(errors.truths)} class{'es' if len(errors.truths) != 1 else ''}"
            parts.append(
                f"errors of {classes}" + (f" and {rejects} reject answer{'s' * (rejects > 1)}" if rejects else "")
            )
        return f"Costs({', '.join(parts)})"

    @property
    def tests(self) -> Mapping[str, Test]:
        """The tests by name, read only.

        Examples
        --------
        >>> Costs(tests={"age": 1}).tests["age"].price
        1.0
        """
        return MappingProxyType(self._tests)

    @property
    def groups(self) -> Mapping[str, float]:
        """The common price of each group, read only.

        Examples
        --------
        >>> dict(Costs(tests={"chol": Test(5.17, group="blood")}, groups={"blood": 2.10}).groups)
        {'blood': 2.1}
        """
        return MappingProxyType(self._groups)

    @property
    def errors(self) -> float | dict[Hashable, dict[Hashable, float]]:
        """The cost of errors: a number, or the full mapping ``{truth: {answer: cost}}``.

        Examples
        --------
        >>> Costs(errors={"sick": {"buff": 500}, "buff": {"sick": 100}}).errors
        {'sick': {'sick': 0.0, 'buff': 500.0}, 'buff': {'sick': 100.0, 'buff': 0.0}}
        """
        return self._errors.nested()

    @property
    def about(self) -> dict[str, str]:
        """Title, source, currency, licence: whatever was written about these costs.

        Examples
        --------
        >>> Costs(about={"currency": "CAD"}).about
        {'currency': 'CAD'}
        """
        return dict(self._about)

    @property
    def currency(self) -> str:
        """What all amounts are in; empty if unknown.

        Examples
        --------
        >>> Costs(currency="EUR").currency, Costs().currency
        ('EUR', '')
        """
        return self._about.get("currency", "")

    @property
    def waiting(self) -> float | tuple[tuple[float, float], ...]:
        """What waiting costs: a price per unit of time, or points (time, price) of a curve.

        Examples
        --------
        >>> Costs(waiting=2.5).waiting, Costs().waiting, Costs(waiting=[(0, 0), (24, 10), (72, 200)]).waiting
        (2.5, 0.0, ((0.0, 0.0), (24.0, 10.0), (72.0, 200.0)))
        """
        if len(self._waiting) == 2 and self._waiting[1][0] == 1.0:
            return self._waiting[1][1]
        return self._waiting or 0.0

    def waiting_price(self, time: float, waited: float = 0.0) -> float:
        """Return what it costs to wait for `time` more, after having waited for `waited`.

        Examples
        --------
        >>> costs = Costs(waiting=[(0, 0), (24, 10), (72, 200)])
        >>> costs.waiting_price(24), costs.waiting_price(24, waited=24), costs.waiting_price(96)
        (10.0, 95.0, 295.0)
        """
        return waiting_price(self._waiting, waited + time) - waiting_price(self._waiting, waited)

    def price(
        self,
        test: str,
        paid: Collection[str] = (),
        known: Mapping[str, Any] | None = None,
        truth: Any = None,
        result: Any = None,
    ) -> float:
        """Return what a test and the tests it requires cost, given the tests already paid for.

        Parameters
        ----------
        test : str
            Name of the test.
        paid : collection of str
            Names of the tests already paid for. They and the common prices of their groups are not charged again.
        known : mapping of test to result, optional
            What is known of the case, for surcharges that depend on other results.
        truth : class label, optional
            The class of the case, for surcharges by class.
        result : optional
            The result of the test itself, for surcharges by result.

        Notes
        -----
        A surcharge counts if all it asks about is given and meets its conditions. Waiting is not included: see
        `waiting_price`.

        Examples
        --------
        >>> blood = {"chol": Test(5.17, group="blood"), "fbs": Test(3.10, group="blood")}
        >>> costs = Costs(tests=blood, groups={"blood": 2.10})
        >>> costs.price("chol"), costs.price("chol", paid={"fbs"}), costs.price("chol", paid={"chol"})
        (7.27, 5.17, 0.0)

        A stress test that may harm the sick, and costs less after an ECG:

        >>> stress = Test(100, surcharges=[Surcharge(500, truth="sick"), Surcharge(-5, after=["ecg"])])
        >>> costs = Costs(tests={"ecg": 20, "stress": stress})
        >>> costs.price("stress"), costs.price("stress", paid={"ecg"}), costs.price("stress", truth="sick")
        (100.0, 95.0, 600.0)
        """
        if isinstance(paid, str):
            raise CostsError(f"paid must be a collection of names, not the string {show(paid)}")
        done = set(paid)
        for name in (test, *done):
            if name not in self._closures:
                raise CostsError(f"no price for test {show(name)}; {suggest(str(name), self._closures)}")
        values = {**(known or {}), **({} if result is None else {test: result})}
        added = [
            surcharge.amount
            for name in self._closures[test]
            if name in self._tests and name not in done
            for surcharge in self._tests[name].surcharges
            if self._applies(name, surcharge, done, values, truth)
        ]
        return math.fsum([self._bill(self._closures[test], done), *added])

    def _applies(
        self, name: str, surcharge: Surcharge, done: Collection[str], values: Mapping[str, Any], truth: Any
    ) -> bool:
        if surcharge.truth is not None and (
            truth is None or label_key(plain_label(truth)) != label_key(surcharge.truth)
        ):
            return False
        conditions = {**surcharge.where, **({} if surcharge.result is None else {name: surcharge.result})}
        if not all(Condition.parse(given, "").holds(values.get(other)) for other, given in conditions.items()):
            return False
        before = {*done, *self._closures[name]}
        return before.issuperset(surcharge.after) and (
            not surcharge.after_any or not before.isdisjoint(surcharge.after_any)
        )

    def _bill(self, names: Iterable[str], paid: Collection[str] = ()) -> float:
        """Return the price of a set of tests: their own prices and the common prices of groups not yet paid for."""
        tests = [self._tests[name] for name in names if name not in paid and name in self._tests]
        settled = {group for name in paid if name in self._tests for group in self._tests[name].groups}
        due = {group for test in tests for group in test.groups} - settled
        return math.fsum([*(test.price for test in tests), *(self._groups[group] for group in due)])

    def total_price(self) -> float:
        """Return the price of all tests together, each group's common price once (Turney 1995, the T of eq. 6).

        Surcharges and waiting, which depend on the case, are not included.

        Examples
        --------
        >>> blood = {"chol": Test(5.17, group="blood"), "fbs": Test(3.10, group="blood")}
        >>> round(Costs(tests=blood, groups={"blood": 2.10}).total_price(), 2)
        10.37
        """
        return self._bill(self._tests)

    def standard_cost(self, y: Any) -> float:
        """Return the standard cost of a data set: T + min_i (1 - f_i) * max_ij C_ij (Turney 1995, eq. 6).

        Parameters
        ----------
        y : array-like
            The classes of all cases of the data set. f_i is the relative frequency of class i, T the price of all
            tests together, and C the error costs of the classes in y, without reject answers.

        Examples
        --------
        >>> Costs(tests={"age": 1.0}, errors=100).standard_cost(["sick", "buff", "buff", "buff"])
        26.0
        """
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] == 1:  # as `fit` takes it, too
            labels = labels[:, 0]
        if labels.ndim != 1 or labels.size == 0:
            raise CostsError(f"y must be a non-empty 1-d list of classes; its shape is {labels.shape}")
        for row, label in enumerate(labels.tolist()):
            if is_missing(label):
                raise CostsError(f"y has no class in row {row}: {show(label)}")
        return self.standard_cost_of(Counter(labels.tolist()))

    def standard_cost_of(self, counts: Mapping[Any, float]) -> float:
        """Return the standard cost of a data set with so many cases of each class; see `standard_cost`.

        Examples
        --------
        >>> Costs(tests={"age": 1.0}, errors=100).standard_cost_of({"sick": 1, "buff": 3})
        26.0
        """
        least_wrong = 1.0 - max(counts.values()) / sum(counts.values())
        if self._errors.uniform is not None:  # without a matrix, whatever the number of classes
            worst = max(self._errors.uniform, 0.0) if len(counts) > 1 else 0.0
        else:
            worst = float(self.error_matrix(list(counts))[1][:, : len(counts)].max())
        return float(self.total_price() + least_wrong * worst)

    def with_errors(self, errors: Any, classes: Sequence[Any] | None = None) -> Costs:
        """Return a copy with other error costs; `errors` and `classes` are as in `Costs`.

        Examples
        --------
        >>> Costs(tests={"age": 1.0}).with_errors(500)
        Costs(1 test for 1 together, errors 500)
        """
        return self._copy(errors=ErrorTable.parse(errors, classes))

    def with_prices(self, prices: Mapping[str, float]) -> Costs:
        """Return a copy with other prices; what else is known of a test (group, delay, requirements) stays.

        Parameters
        ----------
        prices : mapping of test to price
            The price of a test in a group is without the group's common price. A test that had no price gets one.

        Examples
        --------
        >>> blood = {"chol": Test(5.17, group="blood"), "fbs": Test(3.10, group="blood")}
        >>> costs = Costs(tests=blood, groups={"blood": 2.10}).with_prices({"chol": 1.0, "age": 0.5})
        >>> costs.price("chol"), costs.price("age"), costs.tests["chol"].group
        (3.1, 0.5, 'blood')
        """
        tests = dict(self._tests)
        for name, price in name_items(prices, "prices", "test"):
            value = number(price, f"the price of test {show(name)}", ("test", name))
            checked = check_test(name, value, self._groups)
            tests[name] = replace(tests.get(name, checked), price=checked.price)
            check_surcharges(name, checked.price, tests[name].surcharges)  # discounts may be too large now
        return self._copy(tests=tests)

    def only(self, columns: Iterable[str]) -> Costs:
        """Return a copy with the prices of some columns only, for a price list that is longer than the table.

        Parameters
        ----------
        columns : iterable of str
            Names of columns. Those without a price are free, as always; groups without a test are left out.

        Raises
        ------
        ValueError
            If a test of these columns requires one that is not among them.

        Examples
        --------
        >>> costs = Costs(tests={"age": 1.0, "chol": Test(5.17, group="blood"), "mri": 400.0}, groups={"blood": 2.10})
        >>> few = costs.only(["sex", "age", "chol"])
        >>> list(few.tests), few.total_price()
        (['age', 'chol'], 8.27)
        """
        if isinstance(columns, str):
            raise CostsError(f"columns must be a collection of names, not the string {show(columns)}")
        kept = set(columns)
        tests = {name: test for name, test in self._tests.items() if name in kept}
        for name, test in tests.items():
            named = [*test.prerequisites, *(other for own in test.surcharges for other in own.mentioned_before)]
            if lost := [other for other in dict.fromkeys(named) if other not in kept]:
                raise CostsError(f"test {show(name)} requires {listing(lost)}, which must be kept, too", ("test", name))
        if len(tests) == len(self._tests):
            return self
        used = {group for test in tests.values() for group in test.groups}
        return self._copy(tests=tests, groups={name: price for name, price in self._groups.items() if name in used})

    def without_delays(self) -> Costs:
        """Return a copy without delays and waits: every result is available at once.

        Examples
        --------
        >>> Costs(tests={"chol": Test(7.27, delayed=True)}).without_delays().tests["chol"].delayed
        False
        """
        tests = {name: replace(test, delayed=False, wait=0.0) for name, test in self._tests.items()}
        return self._copy(tests=tests)

    def without_surcharges(self) -> Costs:
        """Return a copy without surcharges; tests that only a surcharge asked about are no longer required.

        Examples
        --------
        >>> costs = Costs(tests={"dye": Test(30, surcharges=[Surcharge(300, result="reaction")])})
        >>> costs.without_surcharges().price("dye", result="reaction")
        30.0
        """
        return self._copy(tests={name: replace(test, surcharges=()) for name, test in self._tests.items()})

    def without_groups(self) -> Costs:
        """Return a copy without groups: every test has its full (first) price.

        Examples
        --------
        >>> blood = {"chol": Test(5.17, group="blood"), "fbs": Test(3.10, group="blood")}
        >>> alone = Costs(tests=blood, groups={"blood": 2.10}).without_groups()
        >>> alone.price("chol", paid={"fbs"})
        7.27
        """
        full = {
            name: replace(test, price=test.price + math.fsum(self._groups[group] for group in test.groups), group=None)
            for name, test in self._tests.items()
        }
        return self._copy(tests=full, groups={})

    def prices_for(self, columns: Sequence[str]) -> Prices:
        """Return the prices of a table's columns as arrays, in the order of `columns`.

        Raises
        ------
        ValueError
            If a test of the price list, or one that it requires, is not a column, or if two columns have the same name.

        Examples
        --------
        >>> tests = {"fti": Test(2.0, requires=("tt4",)), "tt4": Test(12.41, group="blood")}
        >>> costs = Costs(tests=tests, groups={"blood": 2.10})
        >>> prices = costs.prices_for(["sex", "tt4", "fti"])
        >>> prices.marginal.tolist(), [prices.groups_of(column) for column in range(3)], prices.common.tolist()
        ([0.0, 12.41, 2.0], [[], [0], []], [2.1])
        >>> prices.closure_start.tolist(), prices.closure_tests.tolist()
        ([0, 1, 2, 4], [0, 1, 2, 1])
        """
        names = list(columns)
        position = {name: place for place, name in enumerate(names)}
        if len(position) != len(names):
            twice = [name for name, count in Counter(names).items() if count > 1]
            raise CostsError(f"every column needs a unique name; two columns have the same name: {listing(twice)}")
        self._check_columns(position)
        free = Test(0.0)
        tests = [self._tests.get(name, free) for name in names]
        group_index = {name: place for place, name in enumerate(self._groups)}
        groups = _ragged([group_index[group] for group in test.groups] for test in tests)
        closures = _ragged([position[name] for name in self._closures.get(name, (name,))] for name in names)
        surcharges = [(place, own) for place, test in enumerate(tests) for own in test.surcharges]
        after = _ragged([position[name] for name in own.after] for _, own in surcharges)
        after_any = _ragged([position[name] for name in own.after_any] for _, own in surcharges)
        return Prices(
            marginal=np.array([test.price for test in tests], dtype=np.float64),
            group_start=groups[0],
            group_list=groups[1],
            common=np.array(list(self._groups.values()), dtype=np.float64),
            delayed=np.array([test.delayed for test in tests], dtype=np.uint8),
            closure_start=closures[0],
            closure_tests=closures[1],
            wait=np.array([test.wait for test in tests], dtype=np.float64),
            waiting=np.array(self._waiting, dtype=np.float64).reshape(-1, 2),
            surcharge_test=np.array([place for place, _ in surcharges], dtype=np.int32),
            surcharge_amount=np.array([own.amount for _, own in surcharges], dtype=np.float64),
            after_start=after[0],
            after_tests=after[1],
            after_any_start=after_any[0],
            after_any_tests=after_any[1],
            surcharges=tuple(own for _, own in surcharges),
        )

    def _check_columns(self, position: Mapping[str, int]) -> None:
        known = [name for name in position if isinstance(name, str)]
        before = {
            other: f"in {field} of {show(name)}"
            for name, test in self._tests.items()
            for own in test.surcharges
            for field in ("after_any", "after")
            for other in getattr(own, field)
        }
        missing = [name for name in dict.fromkeys([*self._closures, *before]) if name not in position]
        if not missing:
            return
        needs = {r: name for name, test in self._tests.items() for r in test.prerequisites}
        parts = []
        for name in missing[:3]:
            role = f"required by {show(needs[name])}" if name in needs else before.get(name, "")
            role = "priced" if name in self._tests else role
            above = name in ("errors", "waiting")
            hint = f"in TOML, {name} = … must be above [tests]" if above else suggest(name, known)
            parts.append(f"{show(name)} ({role}; {hint})")
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        foreign = len(self._tests) > 1 and not any(
            name in position or nearest(name, known) or name in ("errors", "waiting") for name in self._tests
        )
        table = "; is it the price list of another table?" if foreign else ""
        raise CostsError(
            f"the costs contain tests that are not columns: {', '.join(parts)}{more}{table}", ("test", missing[0])
        )

    def check_classes(self, classes: Sequence[Any]) -> None:
        """Raise an error if the error costs lack one of the classes, or a class is named twice.

        Unlike `error_matrix`, it takes any number of classes.

        Examples
        --------
        >>> Costs(errors=5).check_classes(range(100_000))
        >>> Costs(errors={"a": {"b": 1}, "b": {"a": 2}}).check_classes(["a", "c"])
        Traceback (most recent call last):
        ...
        worthwhile.costs.error_costs.CostsError: errors has no row for class 'c'; its classes are 'a', 'b'
        """
        self._errors.rows_of(list(classes))

    def error_matrix(self, classes: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
        """Return the answers and the matrix M[truth][answer] for a table with the given classes.

        The answers are the classes, in the given order, then the reject answers. Labels match if they are equal or have
        the same text (1.0 matches "1"). Classes of the error costs that are not given are left out: a fold may lack
        one.

        Examples
        --------
        >>> costs = Costs(errors={"sick": {"buff": 500, "unknown": 20}, "buff": {"sick": 100, "unknown": 20}})
        >>> answers, matrix = costs.error_matrix(["buff", "sick"])
        >>> answers, matrix.tolist()
        (['buff', 'sick', 'unknown'], [[0.0, 100.0, 20.0], [500.0, 0.0, 20.0]])
        """
        return self._errors.matrix(classes)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Costs:
        """Read costs from a file: TOML, CSV or Excel by its suffix, or any one of Turney's four files (docs/costs.md).

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "heart.toml"
        >>> _ = path.write_text("errors = 500")
        >>> Costs.read(path)
        Costs(no tests, errors 500)
        >>> folder.cleanup()
        """
        from worthwhile.costs import files as cost_files  # imported here: only needed for files

        description = cost_files.read(path)
        try:
            found = cls(**description.arguments)
        except CostsError as error:
            raise ValueError(f"{description.place(error.entry)}: {error}") from None
        cost_files.check_filled(description)
        return found

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write costs to a file, TOML, CSV or Excel by its suffix.

        Class labels that are not strings are written as text. `Costs.read` returns equal costs. If writing fails, an
        existing file stays as it was.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> path = pathlib.Path(folder.name) / "heart.csv"
        >>> Costs(tests={"age": 1.0}).write(path)
        >>> print(path.read_text().strip())
        kind,name,price,group,delayed,requires,answer
        test,age,1.0,,no,,
        error,*,1.0,,,,*
        >>> folder.cleanup()
        """
        from worthwhile.costs import files as cost_files

        cost_files.write(self, path)


def _ragged(rows: Iterable[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return lists of numbers as one array: where each starts, and all numbers."""
    lists = list(rows)
    if not any(lists):
        return np.zeros(len(lists) + 1, np.int32), np.empty(0, np.int32)
    start = [0, *itertools.accumulate(map(len, lists))]  # four times as fast as numpy's cumsum of a list
    return np.array(start, dtype=np.int32), np.array([item for row in lists for item in row], dtype=np.int32)


def _check_truths(tests: Mapping[str, Test], errors: ErrorTable) -> None:
    """Check that surcharges by class name a class of the error costs; a uniform error cost has none to compare with."""
    if errors.uniform is not None:
        return
    known = {label_key(label) for label in errors.truths}
    for name, test in tests.items():
        for place, surcharge in enumerate(test.surcharges):
            if surcharge.truth is not None and label_key(surcharge.truth) not in known:
                raise CostsError(
                    f"a surcharge of test {show(name)} has the unknown class {show(surcharge.truth)}; "
                    f"{nearest(surcharge.truth, known)[2:] or suggest(label_key(surcharge.truth), known)}",
                    ("test", name, f"surcharge {place}"),
                )


def _count(things: Collection[object], word: str) -> str:
    return f"{len(things)} {word}{'s' if len(things) != 1 else ''}"
