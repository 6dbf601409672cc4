"""`Surcharge`: an amount on top of a test's price that depends on the case; and the conditions that decide when."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np

from worthwhile.costs.error_costs import CostsError, label_key, listing, number, plain_label, show, suggest

__all__ = ["COMPARISON", "Condition", "Surcharge", "check_surcharges", "largest_discount"]

COMPARISON = re.compile(r"\s*(<=|>=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")
MISTYPED = re.compile(r"\s*(?:=<|=>|==|!=|<>)\s*([-+]?[.\d].*?)\s*")
# More discounts than this are taken to apply together, which is the worst that can happen.
MAX_COMPARED = 12


@dataclass(frozen=True, eq=False)
class Surcharge:
    """An amount that a test costs more, or less, where all of its conditions hold.

    Parameters
    ----------
    amount : float
        What is charged on top of the price; negative for a discount. A price never falls below 0.
    truth : class label, optional
        Applies to cases of this class: a test that is a risk to the sick. The class is not known when the test is
        ordered, so the amount is expected by class probabilities while a tree is learned or advises, and charged by
        the true class in an evaluation.
    result : condition, optional
        Applies if the result of the test itself meets the condition: a dye that some react to.
    where : mapping of test to condition, optional
        Applies if the results of other tests meet their conditions. These tests must be done first, so the test
        requires them.
    after : sequence of str
        Applies if all these tests were done before. Tests ordered together are not done one after another.
    after_any : sequence of str
        Applies if at least one of these tests was done before.

    Notes
    -----
    A condition is a value, a list of values, or a comparison for numbers: ``"< 1"``, ``"<= 1"``, ``"> 5"``, ``">= 5"``.

    Examples
    --------
    >>> Surcharge(500.0, truth="sick")
    Surcharge(500.0, truth='sick')
    >>> Surcharge(20.0, where={"age": "< 1"}, after=["ecg"])
    Surcharge(20.0, where={'age': '< 1'}, after=('ecg',))
    """

    amount: float
    truth: Any = None
    result: Any = None
    where: Mapping[str, Any] = field(default_factory=dict)
    after: Sequence[str] = ()
    after_any: Sequence[str] = ()

    def __post_init__(self) -> None:
        # The rest is checked by Costs, which knows the name of the test.
        for name in ("after", "after_any"):
            if isinstance(value := getattr(self, name), list):
                object.__setattr__(self, name, tuple(value))

    def __eq__(self, other: object) -> bool:
        # Files have labels and values as text: what means the same is equal.
        if not isinstance(other, Surcharge):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared()[:3])

    def _compared(self) -> tuple[Any, ...]:
        truth = None if self.truth is None else _text(self.truth)
        result = None if self.result is None else _comparable(self.result)
        where = {name: _comparable(given) for name, given in self.where.items()}
        return self.amount, truth, (self.after, self.after_any), result, where

    def words(self, test: str) -> str:
        """Return when it applies, in words; `test` is the test that it belongs to.

        Examples
        --------
        >>> Surcharge(300.0, result="reaction").words("dye"), Surcharge(9.0, truth="sick").words("ecg")
        ('reaction', 'class sick')
        >>> Surcharge(20.0, where={"age": "< 1", "sex": "f"}, after=["ecg"]).words("lab")
        'age < 1 and sex = f, after ecg'
        >>> Surcharge(-20.0, after_any=["mri", "ct"]).words("lab")
        'after mri or ct'
        """
        found = [_condition_words(name, given) for name, given in self.where.items()]
        if self.result is not None:
            own = Condition.parse(self.result, "")
            named = own.is_comparison or not any(isinstance(value, str) for value in own.values)
            found.append(_condition_words(test, self.result) if named else own.text())
        if self.truth is not None:
            found.append(f"class {_text(self.truth)}")
        after = [f"after {' and '.join(self.after)}"] if self.after else []
        after += [f"after {' or '.join(self.after_any)}"] if self.after_any else []
        return ", ".join([*([" and ".join(found)] if found else []), *after])

    def when(self, test: str) -> str:
        """Return the words as part of a sentence: "if reaction", "after ecg"."""
        words = self.words(test)
        return words if words.startswith("after ") and not self.has_conditions else f"if {words}"

    @property
    def mentioned_before(self) -> tuple[str, ...]:
        """The tests in `after` and `after_any`."""
        return (*self.after, *self.after_any)

    @property
    def has_conditions(self) -> bool:
        """Whether it depends on the class or on results, not only on what was done before."""
        return self.truth is not None or self.result is not None or bool(self.where)

    def __repr__(self) -> str:
        given = [
            f"{f.name}={value!r}" for f in fields(self)[1:] if (value := getattr(self, f.name)) not in (None, {}, ())
        ]
        return f"Surcharge({', '.join([repr(self.amount), *given])})"


class Condition(NamedTuple):
    """A condition on a value: one of some values, or a comparison with a number.

    Examples
    --------
    >>> age = Condition.parse("< 1", "where of test 'x'")
    >>> age.holds(0.5), age.holds(1), age.holds(None)
    (True, False, False)
    >>> Condition.parse(["yes", "maybe"], "result of test 'x'").holds("yes")
    True
    """

    operator: str  # "in", or one of < <= > >=
    values: tuple[Any, ...]  # of a comparison: one number

    @classmethod
    def parse(cls, given: Any, what: str, entry: tuple[str, ...] = ()) -> Condition:
        """Read a condition; `what` names it in error messages."""
        if isinstance(given, str) and (found := COMPARISON.fullmatch(given)):
            if not math.isfinite(bound := float(found[2])):  # a value of a test, not an amount of money: no other limit
                raise CostsError(f"{what} compares with {found[2]}, which is too large for a number", entry)
            return cls(found[1], (bound,))
        values = tuple(given) if isinstance(given, (list, tuple)) else (given,)
        if isinstance(given, str) and (found := MISTYPED.fullmatch(given)):
            raise CostsError(f"{what} is {show(given)}; comparisons are < <= > >=, such as '<= {found[1]}'", entry)
        if not values:
            raise CostsError(f"{what} needs at least one value", entry)
        try:
            return cls("in", tuple(plain_label(value) for value in values))
        except CostsError:
            raise CostsError(
                f"{what} must be a value, a list of values, or a comparison such as '< 1', not {show(given)}", entry
            ) from None

    @property
    def is_comparison(self) -> bool:
        """Whether it compares numbers."""
        return self.operator != "in"

    def holds(self, value: Any) -> bool:
        """Return whether a value meets the condition; a missing value meets none."""
        if value is None or (isinstance(value, (float, np.floating)) and math.isnan(value)):
            return False
        if not self.is_comparison:
            return any(value == own or _text(value) == _text(own) for own in self.values)
        try:
            return bool(self.of_numbers(np.array([float(value)]))[0])
        except (TypeError, ValueError):
            return False

    def of_numbers(self, values: np.ndarray) -> np.ndarray:
        """Return which numbers meet the condition; NaN meets none."""
        bound = self.values[0]
        with np.errstate(invalid="ignore"):
            if self.operator == "<":
                found = values < bound
            elif self.operator == "<=":
                found = values <= bound
            elif self.operator == ">":
                found = values > bound
            elif self.operator == ">=":
                found = values >= bound
            else:
                numbers = [float(v) for v in self.values if _is_number(v)]
                found = np.isin(values, numbers)
        return np.asarray(found)

    def excludes(self, other: Condition) -> bool:
        """Return whether no value can meet both conditions."""
        for one, two in ((self, other), (other, self)):
            if not one.is_comparison:
                return not any(two.holds(value) for value in one.values)
        # Two comparisons exclude each other if they look away from each other.
        down, up = (self, other) if self.operator[0] == "<" else (other, self)
        if down.operator[0] == up.operator[0]:
            return False
        touching = down.operator == "<=" and up.operator == ">="
        return down.values[0] < up.values[0] or (down.values[0] == up.values[0] and not touching)

    def text(self) -> str:
        """Return the condition as people write it.

        Examples
        --------
        >>> Condition.parse(">=5", "x").text(), Condition.parse(["a", "b"], "x").text()
        ('>= 5', 'a or b')
        """
        if self.is_comparison:
            return f"{self.operator} {self.values[0]:g}"
        return " or ".join(_text(value) for value in self.values)


def _comparable(given: Any) -> tuple[str, tuple[Any, ...]]:
    """Return a condition such that those with the same meaning are equal."""
    operator, values = Condition.parse(given, "condition")
    return operator, values if operator != "in" else tuple(map(_text, values))


def _condition_words(name: str, given: Any) -> str:
    condition = Condition.parse(given, "")
    return f"{name} {'' if condition.is_comparison else '= '}{condition.text()}"


def _text(value: Any) -> str:
    return label_key(value.item() if isinstance(value, np.generic) else value)


def _is_number(value: Any) -> bool:
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def check_surcharges(name: str, price: float, given: Any) -> tuple[Surcharge, ...]:
    """Return the surcharges of a test in their canonical form, with every field checked."""
    entry = ("test", name)
    if not isinstance(given, (list, tuple)):
        raise CostsError(f"surcharges of test {show(name)} must be a list, not {show(given)}", entry)
    found = tuple(_check(name, one, (*entry, f"surcharge {place}")) for place, one in enumerate(given))
    least = price + largest_discount(found)
    if least < -1e-9 * price:
        raise CostsError(
            f"test {show(name)} costs {price:g}, but its discounts can add up to {price - least:g}: "
            "a price must not fall below 0; lower the discounts, or raise the price",
            entry,
        )
    return found


def _check(name: str, given: Any, entry: tuple[str, ...]) -> Surcharge:
    what = f"surcharge of test {show(name)}"
    valid = [f.name for f in fields(Surcharge)]
    if isinstance(given, Mapping):
        for key in given:
            if key not in valid:
                raise CostsError(f"{what} has an unknown key {show(key)}; {suggest(str(key), valid)}", entry)
        if "amount" not in given:
            raise CostsError(f"{what} has no amount; add amount = …, what it adds to the price", entry)
        given = Surcharge(**given)
    if not isinstance(given, Surcharge):
        raise CostsError(f"{what} must be a Surcharge, not {show(given)}", entry)
    amount = number(given.amount, f"amount of a {what}", entry)
    if not isinstance(given.where, Mapping):
        raise CostsError(f"where of a {what} must be a mapping {{test: condition}}, not {show(given.where)}", entry)
    where = {}
    for other, condition in given.where.items():
        if not isinstance(other, str) or not other:
            raise CostsError(f"where of a {what} names {show(other)}, which is not a test name", entry)
        if other == name:
            raise CostsError(f"where of a {what} names the test itself; use result= for its own result", entry)
        Condition.parse(condition, f"where of a {what}, test {show(other)},", entry)
        where[other] = _canonical(condition)
    if given.result is not None:
        Condition.parse(given.result, f"result of a {what}", entry)
    truth = _check_truth(given.truth, what, entry)
    after = _check_after(name, given.after, f"after of a {what}", entry)
    after_any = _check_after(name, given.after_any, f"after_any of a {what}", entry)
    if truth is None and given.result is None and not (where or after or after_any):
        raise CostsError(
            f"a {what} has no condition: give truth, result, where, after or after_any, or add it to the price", entry
        )
    return Surcharge(amount, truth, _canonical(given.result), where, after, after_any)


def _check_truth(given: Any, what: str, entry: tuple[str, ...]) -> Any:
    try:
        return None if given is None else plain_label(given)
    except CostsError:
        raise CostsError(f"truth of a {what} must be one class, not {show(given)}", entry) from None


def _canonical(condition: Any) -> Any:
    if isinstance(condition, (list, tuple)):
        return tuple(value.item() if isinstance(value, np.generic) else value for value in condition)
    return condition.item() if isinstance(condition, np.generic) else condition


def _check_after(name: str, after: Any, what: str, entry: tuple[str, ...]) -> tuple[str, ...]:
    if not isinstance(after, (list, tuple)):
        raise CostsError(f"{what} must be a list of tests, not {show(after)}", entry)
    for other in after:
        if not isinstance(other, str) or not other:
            raise CostsError(f"{what} names {show(other)}, which is not a test name", entry)
        if other == name:
            raise CostsError(f"{what} names the test itself; a test is charged once", entry)
    if len(set(after)) < len(after):
        raise CostsError(f"{what} names a test twice: {listing(after)}", entry)
    return tuple(after)


def largest_discount(surcharges: Iterable[Surcharge]) -> float:
    """Return the lowest sum of surcharges that can apply together: 0 or negative.

    Examples
    --------
    >>> young, old = Surcharge(-5, where={"age": "< 18"}), Surcharge(-4, where={"age": ">= 18"})
    >>> largest_discount([young, old]), largest_discount([young, Surcharge(-4, after=["ecg"])])
    (-5.0, -9.0)
    """
    discounts = [s for s in surcharges if s.amount < 0]
    return -_largest_sum(discounts)


def _largest_sum(surcharges: list[Surcharge], given: tuple[Surcharge, ...] = ()) -> float:
    """Return the largest sum of absolute amounts of surcharges that can apply together, and with the given ones."""
    if len(surcharges) > MAX_COMPARED:
        return math.fsum(abs(s.amount) for s in surcharges)
    if not surcharges:
        return 0.0
    first, rest = surcharges[0], surcharges[1:]
    without = _largest_sum(rest, given)
    if any(_exclude(first, other) for other in given):
        return without
    return max(without, abs(first.amount) + _largest_sum(rest, (*given, first)))


def _exclude(one: Surcharge, other: Surcharge) -> bool:
    """Return whether two surcharges of a test can never apply to the same case."""
    if one.truth is not None and other.truth is not None and _text(one.truth) != _text(other.truth):
        return True
    shared = [(one.where[test], other.where[test]) for test in one.where if test in other.where]
    if one.result is not None and other.result is not None:
        shared.append((one.result, other.result))
    return any(Condition.parse(a, "").excludes(Condition.parse(b, "")) for a, b in shared)
