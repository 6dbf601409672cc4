"""Small pieces of HTML: escaped texts, amounts of money, tables and bars."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from worthwhile.table.columns import value_text
from worthwhile.wording import amount

__all__ = ["MOST_NAMED", "Money", "bar", "cell", "escape", "head", "label", "section", "shortened", "table"]

BAR = 240  # width of the longest bar, in the units of its picture
MOST_NAMED = 30  # tests that one sentence lists


def escape(text: Any) -> str:
    """Return a text that is safe between tags and inside quoted attributes."""
    return html.escape(str(text), quote=True)


def label(value: Any) -> str:
    """Return a class or an answer as a safe text, written as in the walk-through."""
    return escape(value_text(value))


def shortened(text: str, length: int) -> str:
    """Return a text of at most so many letters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


class Money:
    """Amounts in a currency, whose name may be empty."""

    def __init__(self, currency: str) -> None:
        self.currency = currency
        self._is_sign = len(currency) == 1 and unicodedata.category(currency) == "Sc"

    def __call__(self, value: float) -> str:
        """Return an amount with its currency, as HTML."""
        number = amount(value).replace("-", "−")
        if not self.currency:
            return number
        unit = escape(self.currency)
        return f"{unit}{number}" if self._is_sign else f'{number} <span class="unit">{unit}</span>'

    @property
    def heading(self) -> str:
        """The currency as a remark in a caption."""
        return f", in {escape(self.currency)}" if self.currency else ""


def cell(content: str, *, text: bool = False, heading: bool = False) -> str:
    """Return a cell of a table; `content` is HTML."""
    kind = ' class="text"' if text else ""
    return f'<th scope="row">{content}</th>' if heading else f"<td{kind}>{content}</td>"


def head(name: str, *, text: bool = False, hidden: bool = False) -> str:
    """Return the heading of a column; `name` is HTML."""
    if hidden:
        return f'<th scope="col"><span class="hide">{name}</span></th>'
    return f'<th scope="col" class="text">{name}</th>' if text else f'<th scope="col">{name}</th>'


def table(caption: str, heads: Sequence[str], rows: Iterable[str], marks: Sequence[str] = ()) -> str:
    """Return a table of rows of cells; `marks` are the classes of the first rows."""
    body = []
    for position, row in enumerate(rows):
        mark = marks[position] if position < len(marks) else ""
        body.append(f'<tr class="{mark}">{row}</tr>' if mark else f"<tr>{row}</tr>")
    return "\n".join(
        [
            f'<div class="wide"><table>\n<caption>{caption}</caption>',
            "<thead><tr>",
            *heads,
            "</tr></thead>",
            "<tbody>",
            *body,
            "</tbody></table></div>",
        ]
    )


def bar(parts: Sequence[tuple[str, float]], largest: float) -> str:
    """Return a bar of several parts, each with the name of its colour and its length: a picture of a number beside."""
    scale = BAR / largest if largest > 0 else 0.0
    at, drawn = 0.0, []
    for kind, value in parts:
        width = max(value, 0.0) * scale
        drawn.append(f'<rect class="{kind}" x="{at:.1f}" y="2" width="{width:.1f}" height="14"/>')
        at += width
    inside = "".join(drawn)
    # It is as wide as its column, and as high as ever: only its length means something.
    return f'<svg class="bar" viewBox="0 0 {BAR} 18" preserveAspectRatio="none" aria-hidden="true">{inside}</svg>'


def section(name: str, title: str, *content: str, attributes: str = "") -> str:
    """Return a section of the page with its heading."""
    inner = "\n".join(part for part in content if part)
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"{attributes}>\n'
        f'<h2 id="{name}-title">{title}</h2>\n{inner}\n</section>'
    )
