"""What the events of a case add up to: what is ordered, known and spent, and what to do next.

Nothing here knows the database. A case is its list of events; the state is computed from them, so an undone event is
simply left out, and a correction never loses the old value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from worthwhile.costs.error_costs import is_missing, suggest
from worthwhile.costs.pricing import Extra
from worthwhile.service.event_log import CaseEvent
from worthwhile.service.model_store import ServedModel
from worthwhile.table.columns import value_text
from worthwhile.tree.advice import Advice
from worthwhile.tree.context import ProblemContext
from worthwhile.tree.dialogue import read_value
from worthwhile.tree.run import may_ask
from worthwhile.wording import amount

__all__ = [
    "Bill",
    "CaseLine",
    "CaseState",
    "Guidance",
    "PlacedOrder",
    "TestStatus",
    "fold_events",
    "label_of",
    "read_result",
]

ORDERED, RESULT, UNAVAILABLE = "ordered", "result in", "unavailable"
UNDOABLE = ("ordered", "results", "corrected", "noted", "closed", "outcome")


@dataclass
class TestStatus:
    """What is known about one test of a case; a test that nobody touched has none: it is not asked."""

    __test__ = False  # not a class of tests for pytest

    state: str
    ordered_at: str | None = None
    ordered_by: str | None = None
    value: Any = None
    result_at: str | None = None
    result_by: str | None = None
    why: str = ""  # why it is unavailable, or was corrected
    given: bool = False  # known when the case was opened
    earlier: list[Any] = field(default_factory=list)  # values before corrections


@dataclass(frozen=True)
class PlacedOrder:
    """Tests that were ordered at once."""

    tests: tuple[str, ...]
    time: str
    actor: str
    given: bool = False


@dataclass(frozen=True)
class CaseLine:
    """A line of the ledger of a case: what a test cost when it was ordered."""

    test: str
    price: float
    time: str
    actor: str
    given: bool
    extras: tuple[Extra, ...] = ()


@dataclass(frozen=True)
class Bill:
    """What a case has cost so far.

    Attributes
    ----------
    ledger : tuple of CaseLine
    charged : frozenset of int
        All that was charged, what others have paid included.
    spent : float
        Price of everything ordered so far; unavailable tests are not charged.
    """

    ledger: tuple[CaseLine, ...]
    charged: frozenset[int]
    spent: float


@dataclass(frozen=True)
class Guidance:
    """What to do next for a case.

    Attributes
    ----------
    advice : Advice
        Of the model, for what is known; what is ordered counts as paid.
    slip : dict
        Every test to order now, with its price on top of all that was ordered before.
    price : float
    bill : Bill
    extras : dict
        Surcharges and waits in the prices of the slip.
    """

    advice: Advice
    slip: dict[str, float]
    price: float
    bill: Bill
    extras: dict[str, tuple[Extra, ...]]

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return self.bill.spent

    @property
    def expected(self) -> float | None:
        """What the whole case is expected to cost; None if that is unknown."""
        return None if self.advice.go_on_cost is None else self.spent + self.advice.go_on_cost

    @property
    def ledger(self) -> tuple[CaseLine, ...]:
        """What was ordered so far."""
        return self.bill.ledger


@dataclass
class CaseState:
    """A case as its events leave it."""

    served: ServedModel
    case_number: str = ""
    opened_at: str = ""
    opened_by: str = ""
    closed_at: str | None = None
    already_paid: tuple[str, ...] = ()
    tests: dict[str, TestStatus] = field(default_factory=dict)
    orders: list[PlacedOrder] = field(default_factory=list)
    notes: list[dict[str, str]] = field(default_factory=list)
    answer: Any = None  # as it was closed
    truth: Any = None
    undoable: CaseEvent | None = None

    @property
    def known(self) -> dict[str, Any]:
        """The results, None for unavailable tests."""
        return {name: test.value for name, test in self.tests.items() if test.state != ORDERED}

    @property
    def pending(self) -> list[str]:
        """The tests that are ordered and have no result yet."""
        return [name for name, test in self.tests.items() if test.state == ORDERED]

    def with_required(self, tests: Iterable[str]) -> list[str]:
        """Return tests with what they require, without those that are ordered or known."""
        context, position = self.served.context, self.served.context.schema.position
        wanted: dict[str, None] = {}
        for name in tests:
            if name not in position:
                raise ValueError(f"there is no test {name!r}; {suggest(str(name), context.columns)}")
            wanted[name] = None
        for t in sorted(context.pricing.closure(position[name] for name in wanted)):
            wanted[context.columns[t]] = None
        return [name for name in wanted if name not in self.tests]

    def ledger(self, amounts: Sequence[float] | None) -> tuple[tuple[CaseLine, ...], frozenset[int]]:
        """Return what each test cost when it was ordered, and all that was charged, those paid by others included."""
        return self.priced_by(self.served.context, amounts)

    def priced_by(
        self, context: ProblemContext, amounts: Sequence[float] | None
    ) -> tuple[tuple[CaseLine, ...], frozenset[int]]:
        """Return the ledger by the prices of some context; unavailable tests are not charged."""
        pricing, columns, position = context.pricing, context.columns, context.schema.position
        charged = context.closure_of(self.already_paid)
        lines: list[CaseLine] = []
        for order in self.orders:
            tests = [position[n] for n in order.tests if self.tests[n].state != UNAVAILABLE]
            # What was known from the start nobody waited for.
            new = charged | pricing.closure(tests) if order.given else pricing.order(tests, charged)
            new = self._available(new, context, charged)
            sequence = list(dict.fromkeys([*tests, *sorted(pricing.tests(new - charged))]))
            charges = sequence, columns, new, charged, amounts
            extras = pricing.extras(*charges)
            for name, price in pricing.items(*charges).items():
                lines.append(CaseLine(name, price, order.time, order.actor, order.given, extras.get(name, ())))
            charged = new
        return tuple(lines), charged

    def _available(self, items: frozenset[int], context: ProblemContext, paid: frozenset[int]) -> frozenset[int]:
        """Return what an order charges for, without tests that are unavailable: another test may require them."""
        position = context.schema.position
        absent = {position[n] for n, test in self.tests.items() if test.state == UNAVAILABLE and n in position}
        return items - (absent - paid)

    def guidance(self) -> Guidance:
        """Return what to do next, what ordering it costs, and what was spent."""
        advice = self._advice()
        bill = self.bill(advice)
        slip, extras, price = self._slip(advice, bill.charged, self._amounts(advice))
        return Guidance(advice, slip, price, bill, extras)

    def _advice(self) -> Advice:
        found: Advice = self.served.model.next_test(self.known, [*self.already_paid, *self.pending])
        return found

    def bill(self, advice: Advice | None = None) -> Bill:
        """Return what was spent; the advice is needed, and found here, only if prices depend on the case."""
        context = self.served.context
        if advice is None and context.has_surcharges:
            advice = self._advice()
        amounts = None if advice is None else self._amounts(advice)
        ledger, charged = self.ledger(amounts)
        return Bill(ledger, charged, context.pricing.price(charged, context.closure_of(self.already_paid), amounts))

    def _amounts(self, advice: Advice) -> Sequence[float] | None:
        """Return what tests and surcharges cost this case; by its true class, if that is known."""
        context = self.served.context
        if self.truth is None or not context.has_surcharges:
            return advice.amounts
        return self.amounts_by(context, advice)

    def amounts_by(self, context: ProblemContext, advice: Advice) -> Sequence[float] | None:
        """Return what tests and surcharges cost by the prices of some context."""
        shares = np.array([advice.probabilities.get(label, 0.0) for label in context.classes])
        if self.truth is not None:
            shares = np.array([float(label == self.truth) for label in context.classes])
        return context.amounts_of_case(context.schema.read_case(self.known), shares, None)

    def _slip(
        self, advice: Advice, charged: frozenset[int], amounts: Sequence[float] | None
    ) -> tuple[dict[str, float], dict[str, tuple[Extra, ...]], float]:
        """Return the tests to order now with their prices; none while the advised test is pending."""
        if advice.test is None or advice.test in self.pending:
            return {}, {}, 0.0
        context = self.served.context
        pricing, columns, position = context.pricing, context.columns, context.schema.position
        # A known result can commit the model to tests that nobody has ordered; those that may still be asked for go on
        # the slip.
        implied = [columns[t] for t in sorted(pricing.tests(advice.charged)) if t not in charged]
        if implied and self.served.trees:
            implied = [name for name in implied if name in self._asked_later()]
        wanted = self.with_required([advice.test, *advice.commits, *implied])
        tests = [position[name] for name in wanted]
        new = self._available(pricing.order(tests, charged), context, charged)
        charges = tests, columns, new, charged, amounts
        return pricing.items(*charges), pricing.extras(*charges), pricing.price(new, charged, amounts)

    def _asked_later(self) -> set[str]:
        """Return the tests that the trees of the model may still ask for."""
        return may_ask(self.served.trees, self.known, [*self.already_paid, *self.pending])

    def state(self, advice: Advice) -> str:
        """Return open, waiting, answered or closed."""
        if self.closed_at is not None:
            return "closed"
        if advice.test is None:
            return "answered"
        return "waiting" if advice.test in self.pending else "open"

    def error_cost(self) -> float | None:
        """Return what the answer's error cost; None if answer or truth is unknown."""
        if self.truth is None or self.answer is None:
            return None
        context = self.served.context
        return float(context.error_rows([self.truth])[0][list(context.answers).index(self.answer)])

    def other_tests(self, guidance: Guidance) -> list[dict[str, Any]]:
        """Return why each other test is not the one to do now, in money where money decides."""
        context, advice = self.served.context, guidance.advice
        _, charged = self.ledger(advice.amounts)
        later = self._asked_later()
        found = []
        for t, name in enumerate(context.columns):
            if name == advice.test or name in self.tests or name in guidance.slip:
                continue
            price = context.pricing.price(context.pricing.order([t], charged), charged, advice.amounts)
            stop = advice.stop_cost
            if stop is not None and price >= stop:
                why = f"It costs {amount(price)}, but answering now is expected to cost only {amount(stop)} in errors."
            elif name in later:
                why = "It may be asked for later; that depends on the results."
            elif self.served.trees:
                why = f"It costs {amount(price)}; the model has no use for its result from here on."
            else:
                why = "The model asks for other tests first."
            found.append({"test": name, "price": price, "why": why})
        return found


def fold_events(served: ServedModel, events: Iterable[CaseEvent]) -> CaseState:
    """Return the state of a case."""
    everything = list(events)
    undone = {event.content["event"] for event in everything if event.action == "undone"}
    state = CaseState(served)
    for event in everything:
        if event.seq not in undone:
            _APPLY.get(event.action, _ignore)(state, event)
            if event.action in UNDOABLE:
                state.undoable = event
    return state


def _ignore(state: CaseState, event: CaseEvent) -> None:
    """Events such as an undo change nothing by themselves."""


def _opened(state: CaseState, event: CaseEvent) -> None:
    content = event.content
    state.case_number, state.opened_at, state.opened_by = content["case_number"], event.time, event.actor
    state.already_paid = tuple(content["already_paid"])
    for name in content["known_order"]:
        value = content["known"][name]
        missing = value is None
        state.tests[name] = TestStatus(
            UNAVAILABLE if missing else RESULT, None, None, value, event.time, event.actor, given=True
        )
        if not missing:
            state.orders.append(PlacedOrder((name,), event.time, event.actor, given=True))


def _place(state: CaseState, event: CaseEvent, orders: Iterable[Sequence[str]]) -> None:
    for tests in orders:
        for name in tests:
            status = state.tests.setdefault(name, TestStatus(ORDERED))
            status.ordered_at, status.ordered_by = event.time, event.actor
        state.orders.append(PlacedOrder(tuple(tests), event.time, event.actor))


def _ordered(state: CaseState, event: CaseEvent) -> None:
    _place(state, event, event.content["orders"])


def _results(state: CaseState, event: CaseEvent) -> None:
    _place(state, event, event.content["orders"])
    reasons = event.content["reasons"]
    for name in event.content["order_of_results"]:
        value = event.content["results"][name]
        status = state.tests.setdefault(name, TestStatus(ORDERED))
        status.state, status.value = (UNAVAILABLE if value is None else RESULT), value
        status.result_at, status.result_by, status.why = event.time, event.actor, reasons.get(name, "")


def _corrected(state: CaseState, event: CaseEvent) -> None:
    _place(state, event, event.content["orders"])
    status, value = state.tests[event.content["test"]], event.content["new"]
    status.earlier.append(event.content["old"])
    status.state, status.value = (UNAVAILABLE if value is None else RESULT), value
    status.result_at, status.result_by, status.why = event.time, event.actor, event.content["why"]


def _noted(state: CaseState, event: CaseEvent) -> None:
    state.notes.append({"time": event.time, "by": event.actor, "text": event.content["text"]})


def _closed(state: CaseState, event: CaseEvent) -> None:
    state.closed_at, state.answer, state.truth = event.time, event.content["answer"], event.content["truth"]


def _outcome(state: CaseState, event: CaseEvent) -> None:
    state.truth = event.content["truth"]


_APPLY = {
    "opened": _opened,
    "ordered": _ordered,
    "results": _results,
    "corrected": _corrected,
    "noted": _noted,
    "closed": _closed,
    "outcome": _outcome,
}


def read_result(served: ServedModel, test: str, value: Any) -> Any:
    """Return a result as it is stored: a number, one of the values of the test, or None if it is unavailable.

    Raises
    ------
    ValueError
        Names the test and what would be valid.
    """
    context = served.context
    if test not in context.schema.position:
        raise ValueError(f"there is no test {test!r}; {suggest(str(test), context.columns)}")
    if is_missing(value):
        return None
    if isinstance(value, str):
        return read_value(served.model, test, value)
    if context.schema.values[context.schema.position[test]] is None:
        if isinstance(value, bool):
            raise ValueError(f"{test} needs a number, got {str(value).lower()}")
        return float(context.schema.read_case({test: value})[context.schema.position[test]])
    return read_value(served.model, test, value_text(value))


def label_of(served: ServedModel, text: Any, what: str, labels: Sequence[Any] | None = None) -> Any:
    """Return the class, or the answer, that a value of JSON or of a form stands for."""
    labels = served.context.classes if labels is None else labels
    for label in labels:
        if label == text and isinstance(label, bool) == isinstance(text, bool):
            return label
    alike = [label for label in labels if str(label).casefold() == str(text).strip().casefold()]
    if len(alike) == 1:
        return alike[0]
    raise ValueError(f"{what}: there is no class {text!r}; {suggest(str(text), [str(label) for label in labels])}")


def shares_of(probabilities: Mapping[Any, float]) -> dict[str, float]:
    """Return class shares with names that JSON can have."""
    return {str(label): share for label, share in probabilities.items()}
