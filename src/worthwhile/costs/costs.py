"""`Costs`: prices of tests and costs of errors.

Every learner, tree and metric uses the same `Costs`. They are immutable, so estimators can share them. docs/costs.md
is the user guide; docs/design/pricing.md defines exactly how a test is priced.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from worthwhile.costs.error_costs import CostsError, ErrorTable, is_missing, listing, number, show, suggest
from worthwhile.costs.price_list import Test, check_about, check_groups, check_test, find_closures, name_items

__all__ = ["Costs", "Prices", "Test"]


@dataclass(frozen=True, eq=False)
class Prices:
    """The prices of a table's columns as arrays, in column order, for the compiled core; see `Costs.prices_for`.

    Attributes
    ----------
    marginal : float64 (d,)
        Price of each column, without its group's common price.
    group : int32 (d,)
        Index of its group, -1 for none.
    common : float64 (g,)
        Common price of each group.
    delayed : uint8 (d,)
        1 for delayed tests.
    closure_start : int32 (d + 1,)
    closure_tests : int32
        ``closure_tests[closure_start[t]:closure_start[t + 1]]`` is t, then all tests it requires, directly or not.
    """

    marginal: np.ndarray
    group: np.ndarray
    common: np.ndarray
    delayed: np.ndarray
    closure_start: np.ndarray
    closure_tests: np.ndarray


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
    _closures: dict[str, tuple[str, ...]]

    def __init__(
        self,
        tests: Mapping[str, Any] | None = None,
        groups: Mapping[str, float] | None = None,
        errors: Any = 1.0,
        classes: Sequence[Any] | None = None,
        about: Mapping[str, str] | None = None,
        currency: str | None = None,
    ) -> None:
        checked_groups = check_groups(groups)
        checked = {name: check_test(name, test, checked_groups) for name, test in name_items(tests, "tests", "test")}
        unused = set(checked_groups) - {test.group for test in checked.values()}
        for name in checked_groups:
            if name in unused:
                raise CostsError(
                    f"group {show(name)} has no test; give a test group={show(name)} or remove the group",
                    ("group", name),
                )
        notes = check_about(about)
        if currency is not None:
            if notes.get("currency", currency) != currency:
                other = f"but about has the currency {show(notes['currency'])}"
                raise CostsError(f"currency is {show(currency)}, {other}", ("about", "currency"))
            notes |= check_about({"currency": currency})
        self._set(checked, checked_groups, ErrorTable.parse(errors, classes), notes)

    def _set(self, tests: dict[str, Test], groups: dict[str, float], errors: ErrorTable, about: dict[str, str]) -> None:
        closures = find_closures(tests)
        state = {"_tests": tests, "_groups": groups, "_errors": errors, "_about": about, "_closures": closures}
        self.__dict__.update(state)  # not by assignment: costs are immutable

    def _copy(
        self,
        tests: dict[str, Test] | None = None,
        groups: dict[str, float] | None = None,
        errors: ErrorTable | None = None,
    ) -> Costs:
        """Return a copy with some parts replaced; the new parts must be checked already."""
        copy = object.__new__(type(self))
        copy._set(
            self._tests if tests is None else tests,
            self._groups if groups is None else groups,
            self._errors if errors is None else errors,
            self._about,
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
        mine = (self._tests, self._groups, self._errors.with_string_labels(), self._about)
        return mine == (other._tests, other._groups, other._errors.with_string_labels(), other._about)

    def __hash__(self) -> int:
        return hash((frozenset(self._tests.items()), frozenset(self._groups.items())))

    def __repr__(self) -> str:
        parts = [f"{_count(self._tests, 'test')} for {self.total_price():g} together" if self._tests else "no tests"]
        delayed = sum(test.delayed for test in self._tests.values())
        computed = sum(bool(test.requires) for test in self._tests.values())
        parts += [f"{n} {word}" for n, word in ((delayed, "delayed"), (computed, "computed")) if n]
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

    def price(self, test: str, paid: Collection[str] = ()) -> float:
        """Return what a test and the tests it requires cost, given the tests already paid for.

        Parameters
        ----------
        test : str
            Name of the test.
        paid : collection of str
            Names of the tests already paid for. They and the common prices of their groups are not charged again.

        Examples
        --------
        >>> blood = {"chol": Test(5.17, group="blood"), "fbs": Test(3.10, group="blood")}
        >>> costs = Costs(tests=blood, groups={"blood": 2.10})
        >>> costs.price("chol"), costs.price("chol", paid={"fbs"}), costs.price("chol", paid={"chol"})
        (7.27, 5.17, 0.0)
        """
        if isinstance(paid, str):
            raise CostsError(f"paid must be a collection of names, not the string {show(paid)}")
        done = set(paid)
        for name in (test, *done):
            if name not in self._closures:
                raise CostsError(f"no price for test {show(name)}; {suggest(str(name), self._closures)}")
        return self._bill(self._closures[test], done)

    def _bill(self, names: Iterable[str], paid: Collection[str] = ()) -> float:
        """Return the price of a set of tests: their own prices and the common prices of groups not yet paid for."""
        tests = [self._tests[name] for name in names if name not in paid and name in self._tests]
        settled = {self._tests[name].group for name in paid if name in self._tests}
        due = {test.group for test in tests if test.group is not None} - settled
        return math.fsum(
            [*(test.price for test in tests), *(self._groups[group] for group in due if group is not None)]
        )

    def total_price(self) -> float:
        """Return the price of all tests together, each group's common price once (Turney 1995, the T of eq. 6).

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
        counts = Counter(labels.tolist())
        least_wrong = 1.0 - max(counts.values()) / labels.size
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
            if lost := [other for other in test.requires if other not in kept]:
                raise CostsError(f"test {show(name)} requires {listing(lost)}, which must be kept, too", ("test", name))
        if len(tests) == len(self._tests):
            return self
        used = {test.group for test in tests.values()}
        return self._copy(tests=tests, groups={name: price for name, price in self._groups.items() if name in used})

    def without_delays(self) -> Costs:
        """Return a copy without delays: every result is available at once.

        Examples
        --------
        >>> Costs(tests={"chol": Test(7.27, delayed=True)}).without_delays().tests["chol"].delayed
        False
        """
        return self._copy(tests={name: replace(test, delayed=False) for name, test in self._tests.items()})

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
            name: replace(test, price=test.price + self._groups[test.group], group=None)
            if test.group is not None
            else test
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
        >>> prices.marginal.tolist(), prices.group.tolist(), prices.common.tolist()
        ([0.0, 12.41, 2.0], [-1, 0, -1], [2.1])
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
        closures = [[position[name] for name in self._closures.get(name, (name,))] for name in names]
        return Prices(
            marginal=np.array([test.price for test in tests], dtype=np.float64),
            group=np.array([-1 if test.group is None else group_index[test.group] for test in tests], dtype=np.int32),
            common=np.array(list(self._groups.values()), dtype=np.float64),
            delayed=np.array([test.delayed for test in tests], dtype=np.uint8),
            closure_start=np.cumsum([0, *(len(closure) for closure in closures)], dtype=np.int32),
            closure_tests=np.array([place for closure in closures for place in closure], dtype=np.int32),
        )

    def _check_columns(self, position: Mapping[str, int]) -> None:
        known = [name for name in position if isinstance(name, str)]
        missing = [name for name in self._closures if name not in position]
        if not missing:
            return
        needs = {r: name for name, test in self._tests.items() for r in test.requires}
        parts = []
        for name in missing[:3]:
            role = "priced" if name in self._tests else f"required by {show(needs[name])}"
            hint = "in TOML, errors = … must be above [tests]" if name == "errors" else suggest(name, known)
            parts.append(f"{show(name)} ({role}; {hint})")
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise CostsError(
            f"the costs contain tests that are not columns: {', '.join(parts)}{more}", ("test", missing[0])
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
            return cls(**description.arguments)
        except CostsError as error:
            raise ValueError(f"{description.place(error.entry)}: {error}") from None

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


def _count(things: Collection[object], word: str) -> str:
    return f"{len(things)} {word}{'s' if len(things) != 1 else ''}"
