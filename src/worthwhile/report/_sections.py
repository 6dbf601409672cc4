"""The sections of the report that are tables: summary, spending, break-even prices, dearest cases, price list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from worthwhile.evaluation.sensitivity import BreakEven
from worthwhile.report._markup import MOST_NAMED, Money, bar, cell, escape, head, label, section, table
from worthwhile.table.columns import Factor
from worthwhile.wording import amount, percent

if TYPE_CHECKING:
    from worthwhile.evaluation.evaluate import Estimate, Evaluation, Way
    from worthwhile.evaluation.spending import Spending
    from worthwhile.tree.tree import Tree

__all__ = ["cases_section", "prices_section", "sensitivity_section", "spending_section", "summary_section"]

MOST_LINES = 25  # a longer way, through many trees, is not printed unless it is opened
N_CASES = 10  # how many of the dearest cases are shown
STRIP = 180  # width of the picture of a range of prices


# ---- what it costs


def summary_section(found: Evaluation, money: Money, note: str) -> str:
    """Return what the model costs against simple ways to decide."""
    model, best = found.model, min(found.ways[1:], key=lambda way: way.total_cost.mean)
    cards = [
        _card("total per case", money(model.total_cost.mean), _interval(model.total_cost)),
        _card("of it for tests", money(model.test_cost.mean), _interval(model.test_cost)),
        _card("of it for errors", money(model.error_cost.mean), f"{_share(model.error_rate)} of the answers are wrong"),
        _saving_card(best, money),
    ]
    largest = max(way.total_cost.mean for way in found.ways)
    rejects = any(way.reject_rate for way in found.ways)
    rows = [_way_row(way, largest, rejects) for way in found.ways]
    rejected = ["no answer"] if rejects else []
    names = ["tests", "errors", "total", _KEY, "wrong", *rejected, "normalized", "the model saves"]
    heads = [head("way to decide", text=True), *map(head, names)]
    caption = f"Cost per case on {found.n_cases} cases{money.heading}; below it the 95 % interval"
    standard = (
        f"Normalized: in percent of the standard cost (Turney 1995, equation 6), here {money(found.standard_cost)}."
        if found.standard_cost is not None
        else ""
    )
    small = f'<p class="note">{escape(note)} {standard} Intervals are bootstrapped over the cases.</p>'
    inside = "".join(cards)
    shown = f'<div class="cards">{inside}</div>'
    return section("summary", "Summary", shown, table(caption, heads, rows, ["model"]), small)


_KEY = " ".join(f'<span class="key"><span class="swatch {part}"></span>{part}</span>' for part in ("tests", "errors"))


def _card(name: str, value: str, note: str) -> str:
    return f'<div class="card"><p class="name">{name}</p><p class="value">{value}</p><p class="note">{note}</p></div>'


def _saving_card(best: Way, money: Money) -> str:
    assert best.saving is not None  # only the model has none
    against = f"the cheapest other way: {escape(best.name)}"
    saving = round(best.saving.mean, 2)
    if saving == 0:
        return _card("saves", money(0.0), f"as dear as {against}")
    return _card("cheaper by" if saving > 0 else "dearer by", money(abs(saving)), f"than {against}")


def _interval(estimate: Estimate) -> str:
    return f"95 % interval {_amount(estimate.low)} to {_amount(estimate.high)}"


def _way_row(way: Way, largest: float, rejects: bool) -> str:
    normalized = "" if way.normalized is None else f"{way.normalized:.1f} %"
    parts = [("tests", way.test_cost.mean), ("errors", way.error_cost.mean)]
    return "".join(
        [
            cell(escape(way.name), heading=True),
            *(cell(_stacked(part)) for part in (way.test_cost, way.error_cost, way.total_cost)),
            cell(bar(parts, largest)),
            cell(_share(way.error_rate)),
            *([cell(_share(way.reject_rate))] if rejects else []),
            cell(normalized),
            cell("" if way.saving is None else _stacked(way.saving)),
        ]
    )


def _stacked(estimate: Estimate) -> str:
    return f"{_amount(estimate.mean)}<small>{_amount(estimate.low)} – {_amount(estimate.high)}</small>"


def _amount(value: float) -> str:
    return amount(value).replace("-", "−")


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


# ---- where the money goes


def spending_section(spending: Spending, money: Money) -> str:
    """Return where the money for tests goes, item by item."""
    if not len(spending):
        return section("spending", "Where the money goes", "<p>No case pays for any test.</p>")
    largest = max(item.amount for item in spending)
    rows = [
        cell(
            escape(item.name) + (" <small>common price of the group</small>" if item.kind == "group" else ""),
            heading=True,
        )
        + cell(_amount(item.amount))
        + cell(bar([("common" if item.kind == "group" else "tests", item.amount)], largest))
        + cell(percent(item.amount / spending.total))
        + cell(percent(item.share))
        for item in spending
    ]
    rows.append(cell("all tests", heading=True) + cell(_amount(spending.total)) + cell("") * 3)
    caption = f"What the tests cost per case, over {spending.n_cases} cases{money.heading}"
    heads = [head("test", text=True), head("per case"), head("picture", hidden=True)]
    heads += [head("of the money"), head("cases that pay for it")]
    words = (
        "<p>What each test takes of the money that is spent on tests, on average over all cases. The common price of a"
        " group is charged once per case, whichever of its tests comes first: it has a row of its own.</p>"
    )
    marks = [*[""] * len(spending), "sum"]
    return section("spending", "Where the money goes", words, table(caption, heads, rows, marks))


# ---- how far it depends on prices


def sensitivity_section(found: Sequence[BreakEven] | str, tree: Tree, method: str, money: Money) -> str:
    """Return the break-even prices, or why there are none."""
    title = "Break-even prices"
    if isinstance(found, str):
        return section("sensitivity", title, f"<p>{escape(found)}</p>")
    moving = [one for one in found if one.trials and one.enters is not None]
    prices = [price for one in moving for price in (one.price, one.enters, one.leaves) if price]
    least, top = min(prices, default=1.0), max(prices, default=1.0)
    in_tree = set(tree.tests_used())
    rows = [
        cell(escape(one.test) + _group_note(tree, one.test), heading=True)
        + cell(_amount(one.price))
        + cell(_state(one, one.test in in_tree), text=True)
        + cell(_break_even_words(one), text=True)
        + cell(_strip(one, least, top))
        for one in sorted(moving, key=lambda one: (not one.used, -(one.enters or 0.0)))
    ]
    caption = f"At which price each test enters or leaves the tree, all other prices as they are{money.heading}"
    heads = [head("test", text=True), head("price now"), head("at this price", text=True)]
    heads += [head("break-even", text=True), head("picture", hidden=True)]
    words = (
        "<p>How much dearer may a test become before it is no longer worth asking? How much cheaper must one be that is"
        " not asked now? Coloured: prices at which it is asked; the line is its price now (on a logarithmic scale).</p>"
    )
    useless = [one.test for one in found if one.finished and one.enters is None]
    open_ = [one.test for one in found if not (one.trials or one.finished)]
    return section(
        "sensitivity",
        title,
        words,
        table(caption, heads, rows) if rows else "",
        _names("Not asked even for nothing (if their groups still cost what they do)", useless),
        _names("Not examined, because the time was over", open_),
        f'<p class="note">{method}</p>',
    )


def _names(words: str, tests: Sequence[str]) -> str:
    if not tests:
        return ""
    rest = f" and {len(tests) - MOST_NAMED} more" if len(tests) > MOST_NAMED else ""
    return f"<p>{words}: {', '.join(map(escape, tests[:MOST_NAMED]))}{rest}.</p>"


def _state(one: BreakEven, in_tree: bool) -> str:
    """Say whether a test is asked at its price, and whether the tree that is shown says otherwise."""
    now = "asked" if one.used else "not asked"
    return now if one.used == in_tree else f"{now}<small>but {'' if in_tree else 'not '}in the tree above</small>"


def _group_note(tree: Tree, test: str) -> str:
    known = tree.costs.tests.get(test)
    if known is None or known.group is None:
        return ""
    return f"<small>beside {_amount(tree.costs.groups[known.group])} for the group {escape(known.group)}</small>"


def _break_even_words(one: BreakEven) -> str:
    assert one.enters is not None  # the others are listed elsewhere
    if one.leaves is None:
        return f"stays at any price up to {_amount(one.enters)}"
    about = "between " if one.finished else "somewhere between "
    verb = "leaves above a price" if one.used else "enters below a price"
    return f"{verb} {about}<strong>{_amount(one.enters)}</strong> and <strong>{_amount(one.leaves)}</strong>"


def _strip(one: BreakEven, least: float, top: float) -> str:
    """Draw the prices at which a test is asked, on a logarithmic scale with 0 at its left end."""
    span = math.log(top / least) if top > least else 1.0

    def at(price: float) -> float:
        return 14 + (STRIP - 20) * math.log(price / least) / span if price > 0 else 2.0

    # Between the two last prices it is not known: that part is paler.
    sure = at(one.enters) if one.enters is not None else 0.0
    open_ = at(one.leaves) if one.enters is not None and one.leaves is not None else sure
    now = at(one.price)
    return (
        f'<svg class="strip" viewBox="0 0 {STRIP} 18" aria-hidden="true">'
        f'<rect class="track" y="5" width="{STRIP}" height="8"/>'
        f'<rect class="open" y="5" width="{max(open_, 0):.1f}" height="8"/>'
        f'<rect class="tests" y="5" width="{max(sure, 0):.1f}" height="8"/>'
        f'<path class="now" d="M{now:.1f} 1V17"/></svg>'
    )


# ---- single cases


def cases_section(est: Any, tree: Tree, X: Any, y: Any, money: Money) -> str:
    """Return the cases that cost most, each with its way."""
    answers, prices, _ = est._route(X, answers=True, prices=True)
    columns = est._read(X)
    errors = tree.errors_of(answers, y)
    totals = prices + errors
    worst = np.argsort(-totals, kind="stable")[:N_CASES]
    truth = np.asarray(y)
    rows = []
    for row in worst.tolist():
        case = {name: _value(array, row) for name, array in zip(tree.columns, columns.arrays, strict=True)}
        way = str(est.explain(case))
        printed = " data-print" if len(way.splitlines()) <= MOST_LINES else ""
        opened = f"<details{printed}><summary>its way</summary><pre>{escape(way)}</pre></details>"
        rows.append(
            cell(f"{row}", heading=True)
            + cell(_amount(float(prices[row])))
            + cell(_amount(float(errors[row])))
            + cell(f"<strong>{_amount(float(totals[row]))}</strong>")
            + cell(label(truth[row]), text=True)
            + cell(label(tree.answers[answers[row]]), text=True)
            + cell(opened, text=True)
        )
    share = float(totals[worst].sum() / totals.sum()) if totals.sum() > 0 else 0.0
    words = (
        f"<p>The {len(worst)} dearest of {len(totals)} cases make up {percent(share)} of the whole cost. Rows are"
        " counted from 0, in the order of the cases that costs are shown on.</p>"
    )
    heads = [*map(head, ("row", "tests", "errors", "total"))]
    heads += [head(name, text=True) for name in ("truth", "answer", "how it came to this")]
    return section("cases", "The dearest cases", words, table(f"Cost of single cases{money.heading}", heads, rows))


def _value(array: Any, row: int) -> Any:
    if isinstance(array, Factor):
        code = int(array.codes[row])
        return None if code < 0 else array.texts[code]
    value = float(array[row])
    return None if math.isnan(value) else value


# ---- the price list


def prices_section(tree: Tree, money: Money) -> str:
    """Return the prices and the costs of errors that everything above rests on."""
    costs = tree.costs
    rows = []
    for name in tree.columns:
        test = costs.tests.get(name)
        group, delayed, needs = ("", "", "") if test is None else (test.group, test.delayed, ", ".join(test.requires))
        rows.append(
            cell(escape(name), heading=True)
            + cell(_amount(0.0 if test is None else test.price))
            + cell(escape(group or ""), text=True)
            + cell("later" if delayed else "at once", text=True)
            + cell(escape(needs), text=True)
        )
    heads = [head("test", text=True), head("price"), *(head(name, text=True) for name in ("group", "result", "needs"))]
    parts = [table(f"Prices of the tests{money.heading}", heads, rows)]
    if costs.groups:
        rows = [cell(escape(name), heading=True) + cell(_amount(price)) for name, price in costs.groups.items()]
        heads = [head("group", text=True), head("common price")]
        parts.append(table(f"Common prices, once per case{money.heading}", heads, rows))
    rows = [
        cell(label(truth), heading=True) + "".join(cell(_amount(float(cost))) for cost in costs_of)
        for truth, costs_of in zip(tree.classes, tree.error_costs, strict=True)
    ]
    heads = [head("truth", text=True), *(head(f"answer {label(answer)}") for answer in tree.answers)]
    parts.append(table(f"What an answer costs{money.heading}", heads, rows))
    about = "".join(f"<li>{escape(key)}: {escape(value)}</li>" for key, value in costs.about.items())
    inside = "\n".join([*parts, f"<ul>{about}</ul>" if about else ""])
    return section(
        "prices",
        "Prices and error costs",
        f"<details><summary>The price list that this report rests on</summary>\n{inside}\n</details>",
    )
