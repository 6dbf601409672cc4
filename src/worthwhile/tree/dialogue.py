"""The dialogue behind ``worthwhile next``: one test after the other, with prices, until there is an answer.

Nothing here knows of a terminal: the caller gives a function that asks for a line and one that shows something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from worthwhile.costs.error_costs import is_missing, suggest
from worthwhile.table.columns import value_codes, value_text
from worthwhile.table.schema import Schema
from worthwhile.tree.run import Entry, Outcome, entries_of_known
from worthwhile.tree.tree import Tree
from worthwhile.wording import amount, enumeration

if TYPE_CHECKING:
    from rich.table import Table

    from worthwhile.tree.advice import Advice

__all__ = ["Dialogue", "Talk", "hold", "read_known", "read_value"]

UNAVAILABLE = ("u", "unavailable")
HELP = "Type the value, or: u (it cannot be had), undo, why, quit."


@dataclass(frozen=True)
class Talk:
    """What came out of a dialogue.

    Attributes
    ----------
    ended : {"answered", "quit", "interrupted"}
        How it ended: with the answer, because the person or the input stopped, or by Ctrl-C.
    known : dict
        What is known of the case, None for what cannot be had.
    ledger : tuple of Entry
    outcome : Outcome or None
        None without an answer.
    """

    ended: str
    known: dict[str, Any]
    ledger: tuple[Entry, ...]
    outcome: Outcome | None


def hold(
    model: Any, known: Mapping[str, Any], ask: Callable[[str], str], tell: Callable[[Any], None], currency: str = ""
) -> Talk:
    """Ask for one test at a time until there is an answer; show prices, reasons, and in the end the ledger.

    Parameters
    ----------
    model : learner or Tree
    known : mapping of test to value
        What is known already, as for `next_test`.
    ask : function
        Gets a prompt, returns a line. EOFError and KeyboardInterrupt end the dialogue.
    tell : function
        Gets plain texts, and in the end the ledger: a table of rich.
    currency : str
        Of the prices, for the title of the ledger.

    Examples
    --------
    >>> import worthwhile as ww
    >>> costs = ww.Costs(tests={"x0": 4}, errors=10)
    >>> clf = ww.DTMCClassifier(costs=costs).fit([[1], [2], [3], [4]], ["a", "a", "b", "b"])
    >>> lines, shown = iter(["three", "3", ""]), []
    >>> talk = hold(clf, {}, ask=lambda prompt: next(lines), tell=shown.append)
    >>> print(*shown[:-2], sep="\\n")
    Type the value, or: u (it cannot be had), undo, why, quit.
    <BLANKLINE>
    Next: x0 for 4.00 (0.00 spent so far).
    Answering a now is expected to cost 5.00 in errors; going on 4.00 in tests and errors, 1.00 less.
    'three' is no number; x0 is a number, e.g. 36.6. If it cannot be had, type u.
    <BLANKLINE>
    Answer: b (a 0%, b 100%), 4.00 spent.
    The tree asks for no further test here; answering b is expected to cost 0.00 in errors.
    >>> talk.ended, talk.outcome
    ('answered', Outcome(answer b, 4.00 spent on x0))
    """
    dialogue = Dialogue(model, known)
    tell(HELP)
    ended = "quit"
    try:
        while dialogue.turn(ask, tell):
            pass
        ended = "answered" if dialogue.advice.test is None else "quit"
    except EOFError:
        ended = "answered" if dialogue.advice.test is None else "quit"
    except KeyboardInterrupt:
        ended = "interrupted"
    if dialogue.ledger:
        tell("")
        tell(dialogue.table(currency))
    return Talk(ended, dialogue.known, tuple(dialogue.ledger), dialogue.outcome())


@dataclass
class Dialogue:
    """A case in conversation: what is known, what it cost, and what to do next."""

    model: Any
    given: Mapping[str, Any]
    known: dict[str, Any] = field(init=False)
    ledger: list[Entry] = field(init=False)
    advice: Advice = field(init=False)
    _shown: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.schema = _schema(self.model)
        self.known = dict(self.given)
        self.advice = self.model.next_test(self.known)
        self.ledger = entries_of_known(self.model.next_test, self.known)

    def turn(self, ask: Callable[[str], str], tell: Callable[[Any], None]) -> bool:
        """Show where the case stands, ask once and do what was said; False: it is over."""
        if not self._shown:
            tell("")
            for line in self.situation():
                tell(line)
            self._shown = True
        return self._obey(ask(self.prompt()).strip(), tell)

    def situation(self) -> list[str]:
        """Return what to do now, and why, in words and money."""
        advice = self.advice
        if advice.test is None:
            shares = ", ".join(f"{label} {share:.0%}" for label, share in advice.probabilities.items())
            return [f"Answer: {advice.answer} ({shares}), {amount(advice.spent)} spent.", advice.reason]
        price = f" for {amount(advice.price)}" if advice.price else ", nothing more to pay"
        lines = [f"Next: {advice.test}{price} ({amount(advice.spent)} spent so far)."]
        if advice.commits:
            lines.append(f"Its result comes later: {enumeration(advice.commits)} must be ordered with it.")
        return [*lines, advice.reason]

    def prompt(self) -> str:
        """Return what to ask for."""
        if self.advice.test is None:
            return "Enter to end, or undo: "
        values = self._values()
        if values is None:
            return f"{self.advice.test} (a number): "
        return f"{self.advice.test} ({', '.join(values) if len(values) <= 12 else f'one of {len(values)} values'}): "

    def _values(self) -> tuple[str, ...] | None:
        return self.schema.values[self.schema.names.index(str(self.advice.test))]

    def _obey(self, said: str, tell: Callable[[Any], None]) -> bool:
        word = said.casefold()
        values = self._values() if self.advice.test is not None else None
        if word in {value.casefold() for value in values or ()}:
            word = ""  # a value that happens to be a command is a value; commands can be written with a colon
        word = word.removeprefix(":")
        if word in ("quit", "exit", "q"):
            return False
        if word == "undo":
            self._undo(tell)
        elif word in ("why", "?", "help"):
            for line in [HELP] if word != "why" else self.why():
                tell(line)
        elif self.advice.test is None:
            return bool(said)
        elif word in UNAVAILABLE:
            self._learn(None)
        else:
            self._take(said, tell)
        return True

    def _take(self, said: str, tell: Callable[[Any], None]) -> None:
        try:
            self._learn(read_value(self.model, str(self.advice.test), said))
        except ValueError as error:
            tell(f"{error} If it cannot be had, type u.")

    def _learn(self, value: Any) -> None:
        asked, test = self.advice, str(self.advice.test)
        self.known[test] = value
        self.advice = self.model.next_test(self.known)
        commits = () if value is None else asked.commits
        self.ledger.append(Entry(test, value, self.advice.spent - asked.spent, commits, self.advice.spent))
        self._shown = False

    def _undo(self, tell: Callable[[Any], None]) -> None:
        if not self.ledger or self.ledger[-1].given:
            tell("There is nothing to undo.")
            return
        entry = self.ledger.pop()
        del self.known[entry.test]
        self.advice = self.model.next_test(self.known)
        tell(f"{entry.test} is not known any more.")
        self._shown = False

    def why(self) -> list[str]:
        """Return what speaks for the advice, at length."""
        advice = self.advice
        shares = ", ".join(f"{label} {share:.0%}" for label, share in advice.probabilities.items())
        lines = [f"As far as is known now: {shares}."]
        if advice.stop_cost is not None and advice.test is not None:
            lines.append(f"Stop and answer {advice.stop_answer}: {amount(advice.stop_cost)} expected in errors.")
        if advice.go_on_cost is not None and advice.gain is not None and advice.test is not None:
            lines.append(f"Go on: {amount(advice.go_on_cost)} expected in errors and tests still to be paid for.")
            lines.append(f"Going on is {'better' if advice.gain >= 0 else 'worse'} by {amount(abs(advice.gain))}.")
        else:
            lines.append(advice.reason)
        if advice.unavailable:
            lines.append(f"Not to be had: {enumeration(advice.unavailable)}.")
        return lines

    def outcome(self) -> Outcome | None:
        """Return the answer with its ledger, None before it is there."""
        advice = self.advice
        if advice.test is not None:
            return None
        ledger = tuple(self.ledger)
        return Outcome(advice.answer, advice.probabilities, advice.spent, ledger, advice.go_on_cost, advice.reason)

    def table(self, currency: str = "") -> Table:
        """Return the ledger for a terminal."""
        from rich.markup import escape
        from rich.table import Table

        money = f" ({currency})" if currency else ""
        answer = f": answer {self.advice.answer}" if self.advice.test is None else ", no answer yet"
        table = Table(title=escape(f"Ledger{money}{answer}"), title_justify="left", show_footer=True)
        table.add_column("Test", "Total")
        table.add_column("Value")
        table.add_column("Price", amount(self.advice.spent), justify="right")
        table.add_column("Spent", justify="right")
        notes = [_note(entry) for entry in self.ledger]
        if any(notes):
            table.add_column("")
        for entry, note in zip(self.ledger, notes, strict=True):
            value = "cannot be had" if is_missing(entry.value) else value_text(entry.value)
            cells = [entry.test, value, amount(entry.price), amount(entry.spent), *([note] if any(notes) else [])]
            table.add_row(*map(escape, cells))
        return table


def _note(entry: Entry) -> str:
    """Return what is to be said of a line of the ledger."""
    if entry.given:
        return "known before"
    if entry.price < 0:
        return "ordered, but not charged"
    return f"with {', '.join(entry.commits)}" if entry.commits else ""


def _schema(model: Any) -> Schema:
    found: Schema = model.schema if isinstance(model, Tree) else model.problem_.schema
    return found


def read_known(model: Any, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values that texts mean, test by test; "u" and "unavailable" mean that a test cannot be had.

    Raises
    ------
    ValueError
        Naming the test, and what it could be.
    """
    names = _schema(model).names
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
    """Return the value of a test that a text means: a number, or one of its values, whatever the case of the letters.

    Examples
    --------
    >>> import worthwhile as ww
    >>> clf = ww.C45Classifier().fit([["Red", 1.5], ["blue", 2.5]] * 4, [0, 1] * 4)
    >>> read_value(clf, "x0", "red"), read_value(clf, "x1", "1.5")
    ('Red', 1.5)
    """
    schema = _schema(model)
    values = schema.values[schema.names.index(test)]
    text = text.strip()
    if values is None:
        return _read_number(test, text)
    codes = value_codes(values)
    if text in codes:
        return values[codes[text]]
    alike = [value for value in values if value.casefold() == text.casefold()]
    if len(alike) == 1:
        return alike[0]
    try:
        return values[codes[value_text(float(text))]]  # 3.0 is 3
    except (KeyError, ValueError, OverflowError):
        pass
    what = f"{text!r} is no value of {test}" if text else f"{test} needs a value"
    hint = suggest(text, values)
    raise ValueError(f"{what}; {hint}{'' if hint.endswith('?') else '.'}")


def _read_number(test: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        return value
    what = f"{text!r} is no number" if text else f"{test} needs a value"
    raise ValueError(f"{what}; {test} is a number, e.g. 36.6.")
