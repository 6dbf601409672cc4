"""The dialogue of ``worthwhile next``: one test after another, with prices, until there is an answer.

It does not depend on a terminal: the caller passes a function that reads a line and one that shows something.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worthwhile.costs.error_costs import is_missing, suggest
from worthwhile.table.columns import value_codes, value_text
from worthwhile.table.dates import DateFormatError, parse_dates
from worthwhile.table.schema import unknown_value
from worthwhile.tree.advice import priced_items, shares_text
from worthwhile.tree.run import KnownValue, LedgerEntry, Outcome, given_values, ledger_of
from worthwhile.tree.tree import Tree
from worthwhile.wording import amount, enumeration, with_currency

if TYPE_CHECKING:
    from rich.table import Table

    from worthwhile.tree.advice import Advice
    from worthwhile.tree.context import ProblemContext

__all__ = ["Dialogue", "DialogueResult", "read_known", "read_value", "run_dialogue"]

# Numbers with commas, and with points that may separate thousands: 13,2 and 1.234 and 1.234,5 and 1,234.5.
_DECIMAL_COMMA = re.compile(r"([-+]?)(\d+|\d{1,3}(?:\.\d{3})+),(\d+)")
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
UNAVAILABLE = ("u", "unavailable")
HELP = "Type the value, or: u (unavailable), undo, why, quit."


@dataclass(frozen=True)
class DialogueResult:
    """The result of a dialogue.

    Attributes
    ----------
    ended : {"answered", "quit", "interrupted"}
        How it ended: with the answer, because the user quit or the input ended, or by Ctrl-C.
    known : dict
        The known values of the case; None for unavailable tests.
    ledger : tuple of LedgerEntry
    outcome : Outcome or None
        None if there is no answer.
    """

    ended: str
    known: dict[str, Any]
    ledger: tuple[LedgerEntry, ...]
    outcome: Outcome | None


def run_dialogue(
    model: Any,
    known: Mapping[str, Any],
    ask: Callable[[str], str],
    show: Callable[[Any], None],
    currency: str = "",
    already_paid: Sequence[str] = (),
) -> DialogueResult:
    """Ask for one test at a time until there is an answer; show prices, reasons and finally the ledger.

    Parameters
    ----------
    model : learner or Tree
    known : mapping of test to value
        What is already known, as for `next_test`.
    ask : function
        Takes a prompt and returns a line. EOFError and KeyboardInterrupt end the dialogue.
    show : function
        Takes strings, and finally the ledger: a table of rich.
    currency : str
        Currency of the prices, shown in the title of the ledger.
    already_paid : list of str
        Tests that somebody else has paid for, as for `next_test`.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs, cross_fit=False).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> lines, shown = iter(["three", "3", ""]), []
    >>> result = run_dialogue(clf, {}, ask=lambda prompt: next(lines), show=shown.append)
    >>> print(*shown[:-2], sep="\\n")
    Type the value, or: u (unavailable), undo, why, quit.
    <BLANKLINE>
    Next: x0 for 4.00 (0.00 spent so far).
    Answering a now is expected to cost 5.00 in errors; going on 4.00 in tests and errors, 1.00 less.
    'three' is not a number; x0 needs a number, e.g. 36.6. If it is unavailable, type u.
    <BLANKLINE>
    Answer: b (a 0%, b 100%), 4.00 spent.
    The tree asks for no further test here; answering b is expected to cost 0.00 in errors.
    >>> result.ended, result.outcome
    ('answered', Outcome(answer b, 4.00 spent on x0))
    """
    dialogue = Dialogue(model, known, already_paid)
    show(HELP)
    ended = "quit"
    try:
        while dialogue.turn(ask, show):
            pass
        ended = "answered" if dialogue.advice.test is None else "quit"
    except EOFError:
        ended = "answered" if dialogue.advice.test is None else "quit"
    except KeyboardInterrupt:
        ended = "interrupted"
    if dialogue.ledger:
        show("")
        show(dialogue.table(currency))
    return DialogueResult(ended, dialogue.known, dialogue.ledger, dialogue.outcome())


@dataclass
class Dialogue:
    """The state of a dialogue: what is known, what it cost, and what to do next."""

    model: Any
    given: Mapping[str, Any]
    already_paid: Sequence[str] = ()
    known: dict[str, Any] = field(init=False)
    values: list[KnownValue] = field(init=False)  # in the order in which they became known
    advice: Advice = field(init=False)
    _shown: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.context = _context(self.model)
        self.known = dict(self.given)
        self.advice = self._advise(self.known)
        self.values = given_values(self._advise, self.known)

    def _advise(self, known: Mapping[str, Any]) -> Advice:
        found: Advice = self.model.next_test(known, self.already_paid)
        return found

    @property
    def ledger(self) -> tuple[LedgerEntry, ...]:
        """What was paid for so far."""
        return ledger_of(self.values, self.context, self.already_paid, self.advice.amounts)

    def turn(self, ask: Callable[[str], str], show: Callable[[Any], None]) -> bool:
        """Show the advice, read one line and act on it; return False at the end of the dialogue."""
        if not self._shown:
            show("")
            for line in self.advice_lines():
                show(line)
            self._shown = True
        return self._handle(ask(self.prompt()).strip(), show)

    def advice_lines(self) -> list[str]:
        """Return what to do next, and why."""
        advice = self.advice
        if advice.test is None:
            shares = shares_text(advice.probabilities, advice.training_cases)
            return [f"Answer: {advice.answer} ({shares}), {self._money(advice.spent)} spent.", advice.reason]
        price = f" for {self._money(advice.price)}" if advice.price else " at no extra cost"
        lines = [f"Next: {advice.test}{price} ({self._money(advice.spent)} spent so far)."]
        if advice.commits:
            others = enumeration(advice.commits)
            if advice.delayed:
                lines.append(f"Its result is delayed, so {others} must be ordered with it.")
            else:
                also = f"{others} {'is' if len(advice.commits) == 1 else 'are'} ordered with it"
                if hasattr(self.model, "stages_"):  # of a cascade
                    lines.append(f"The model needs all of them together, so {also}.")
                else:
                    lines.append(f"Waiting for one result after another would cost more, so {also}.")
        if len(advice.order) > 1:
            lines.append(f"The order: {', '.join(priced_items(advice.order, advice.extras))}.")
        elif extras := advice.extras.get(advice.test):
            lines.append(f"The price includes {enumeration([str(extra) for extra in extras])}.")
        return [*lines, advice.reason]

    def _money(self, money: float) -> str:
        return with_currency(amount(money), self.context.costs.currency)

    def prompt(self) -> str:
        """Return the prompt for the next line."""
        if self.advice.test is None:
            return "Press Enter to finish, or type undo: "
        values = self._values()
        if values is None:
            kind = "a date, e.g. 2024-03-31" if self.advice.test in self.context.schema.dates else "a number"
            return f"{self.advice.test} ({kind}): "
        return f"{self.advice.test} ({', '.join(values) if len(values) <= 12 else f'one of {len(values)} values'}): "

    def _values(self) -> tuple[str, ...] | None:
        schema = self.context.schema
        return schema.values[schema.names.index(str(self.advice.test))]

    def _handle(self, line: str, show: Callable[[Any], None]) -> bool:
        word = line.casefold()
        values = self._values() if self.advice.test is not None else None
        if word in {value.casefold() for value in values or ()}:
            word = ""  # a value may have the name of a command; the command is then typed with a colon
        word = word.removeprefix(":")
        if word in ("quit", "exit", "q"):
            return False
        if word == "undo":
            self._undo(show)
        elif word in ("why", "?", "help"):
            for shown in [HELP] if word != "why" else self.why():
                show(shown)
        elif self.advice.test is None:
            return bool(line)
        elif word in UNAVAILABLE:
            self._record(None)
        else:
            self._record_text(line, show)
        return True

    def _record_text(self, line: str, show: Callable[[Any], None]) -> None:
        try:
            self._record(read_value(self.model, str(self.advice.test), line))
        except ValueError as error:
            show(f"{error} If it is unavailable, type u.")

    def _record(self, value: Any) -> None:
        test = str(self.advice.test)
        self.known[test] = value
        self.advice = self._advise(self.known)
        self.values.append(KnownValue(test, value, tuple(self.advice.paid), charged=self.advice.charged))
        self._shown = False

    def _undo(self, show: Callable[[Any], None]) -> None:
        if not self.values or self.values[-1].given:
            show("There is nothing to undo.")
            return
        entry = self.values.pop()
        del self.known[entry.test]
        self.advice = self._advise(self.known)
        show(f"The value of {entry.test} is removed.")
        self._shown = False

    def why(self) -> list[str]:
        """Return the reasons for the advice in full."""
        advice = self.advice
        shares = shares_text(advice.probabilities, advice.training_cases)
        lines = [f"Class probabilities so far: {shares}."]
        if advice.stop_cost is not None and advice.test is not None:
            lines.append(f"Stop and answer {advice.stop_answer}: {amount(advice.stop_cost)} expected in errors.")
        if advice.go_on_cost is not None and advice.gain is not None and advice.test is not None:
            lines.append(f"Go on: {amount(advice.go_on_cost)} expected in errors and tests not yet paid for.")
            if advice.gain >= 0:
                lines.append(f"Going on is better by {amount(advice.gain)}.")
            else:
                lines.append(advice.reason)
        else:
            lines.append(advice.reason)
        if advice.unavailable:
            lines.append(f"Unavailable: {enumeration(advice.unavailable)}.")
        return lines

    def outcome(self) -> Outcome | None:
        """Return the answer with its ledger; None before there is one."""
        advice = self.advice
        if advice.test is not None:
            return None
        return Outcome(
            advice.answer,
            advice.probabilities,
            advice.spent,
            self.ledger,
            advice.go_on_cost,
            advice.reason,
            advice.training_cases,
        )

    def table(self, currency: str = "") -> Table:
        """Return the ledger for a terminal."""
        from rich.markup import escape
        from rich.table import Table

        unit = f" ({currency})" if currency else ""
        answer = f": answer {self.advice.answer}" if self.advice.test is None else ", no answer yet"
        table = Table(title=escape(f"Ledger{unit}{answer}"), title_justify="left", show_footer=True)
        table.add_column("Test", "Total")
        table.add_column("Value")
        table.add_column("Price", amount(self.advice.spent), justify="right")
        table.add_column("Spent", justify="right")
        ledger = self.ledger
        notes = [self._note(entry) for entry in ledger]
        if any(notes):
            table.add_column("")
        for entry, note in zip(ledger, notes, strict=True):
            value = "unavailable" if is_missing(entry.value) else entry.shown
            value = "not asked for" if entry.ordered_with else value
            cells = [entry.test, value, amount(entry.price), amount(entry.spent), *([note] if any(notes) else [])]
            table.add_row(*map(escape, cells))
        return table

    def _note(self, entry: LedgerEntry) -> str:
        """Return the remark on a line of the ledger: where it comes from, its surcharges, the wait."""
        origin = f"ordered with {entry.ordered_with}" if entry.ordered_with else ""
        if entry.test in self.already_paid:
            origin = "already paid"
        elif entry.given:
            origin = "known from the start"
        return "; ".join([*([origin] if origin else []), *map(str, entry.extras)])


def _context(model: Any) -> ProblemContext:
    found: ProblemContext = model.context if isinstance(model, Tree) else model.problem_
    return found


def read_known(model: Any, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of tests given as strings; "u" and "unavailable" mark a test as unavailable.

    Raises
    ------
    ValueError
        Names the test and its valid values.
    """
    names = _context(model).columns
    known: dict[str, Any] = {}
    for name, text in texts.items():
        if name not in names:
            raise ValueError(f"there is no test {name!r}; {suggest(name, names)}")
        try:
            known[name] = read_value(model, name, text)
        except ValueError:
            if text.strip().casefold() not in UNAVAILABLE:
                raise
            known[name] = None
    return known


def read_value(model: Any, test: str, text: str) -> float | str:
    """Return the value of a test given as a string: a number, or one of its values, ignoring upper and lower case.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.C45Classifier().fit([["Red", 1.5], ["blue", 2.5]] * 4, [0, 1] * 4)
    >>> read_value(clf, "x0", "red"), read_value(clf, "x1", "1.5")
    ('Red', 1.5)
    """
    schema = _context(model).schema
    values = schema.values[schema.names.index(test)]
    text = text.strip()
    if values is None:
        return _read_number(test, text, getattr(model, "_decimal", "."), test in schema.dates)
    codes = value_codes(values)
    if text in codes:
        return values[codes[text]]
    alike = [value for value in values if value.casefold() == text.casefold()]
    if len(alike) == 1:
        return alike[0]
    try:
        whole = text.removeprefix("-").isdigit()  # a float would merge large integers
        return values[codes[value_text(int(text) if whole else float(text))]]  # 3.0 is 3
    except (KeyError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"{unknown_value(test, text, values) if text else f'{test} needs a value; {suggest(text, values)}'}."
    )


def _read_number(test: str, text: str, decimal: str, is_date: bool) -> float:
    """Return a number as people write it; what may mean thousands or decimals is refused."""
    if is_date:
        return _read_date(test, text)
    example = "36,6" if decimal == "," else "36.6"
    grouped, comma = _THOUSANDS.fullmatch(text), _DECIMAL_COMMA.fullmatch(text)
    # 1,234 and 1.234,5 are clear only if the training cases had decimal commas; 1.234 is clear only if they had not.
    clear = comma if decimal == "," else grouped is None or (text.count(".") == 1 and "," not in text)
    if grouped is not None and not clear:
        digits = re.sub(r"[.,](?=\d{3}([.,]|$))", "", text).replace("." if decimal == "," else ",", decimal)
        raise ValueError(f"{text!r} may mean thousands; type {test} without a mark for thousands, e.g. {digits}.")
    if comma:
        text = f"{comma[1]}{comma[2].replace('.', '')}.{comma[3]}"
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    raise _needs(test, text, "number", example)


def _read_date(test: str, text: str) -> float:
    """Return the days of a date; a bare number is most likely a mistake."""
    try:
        found = parse_dates([text])
    except DateFormatError:  # 3/4/2024 or 3.4.24
        found = None
    if found is None:
        raise _needs(test, text, "date", "2024-03-31")
    return float(found[0])


def _needs(test: str, text: str, kind: str, example: str) -> ValueError:
    what = f"{text!r} is not a {kind}" if text else "the value is empty"
    return ValueError(f"{what}; {test} needs a {kind}, e.g. {example}.")
