"""Evaluates the formulas of a sheet that the package writes: IF, AND, OR, EXACT, ISNUMBER, INDEX, COUNTA, < and <=."""

import re

TOKEN = re.compile(
    r'\s*("(?:[^"]|"")*"|[A-Z]+\(|FALSE|TRUE|(?:[a-z]+!)?\$?[A-Z]{1,3}\$?\d+|[a-z]+!\$[A-Z]+:\$[A-Z]+|<=|<|=|:|,|\)|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)'
)


class Book:
    """The cells of a workbook, with values of formulas worked out as Excel does: empty cells are None."""

    def __init__(self, book):
        self.book, self.known = book, {}

    def value(self, sheet, cell):
        key = sheet, cell.replace("$", "")
        if key not in self.known:
            raw = self.book[sheet][key[1]]
            is_formula = raw.data_type == "f"
            self.known[key] = _Formula(self, sheet, raw.value[1:]).result() if is_formula else raw.value
        return self.known[key]


class _Formula:
    def __init__(self, book, sheet, text):
        self.book, self.sheet = book, sheet
        self.tokens, at = [], 0
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match, text[at : at + 40]
            self.tokens.append(match[1])
            at = match.end()
        self.at = 0

    def result(self):
        value = self.comparison(True)
        assert self.at == len(self.tokens)
        return value

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def comparison(self, live):
        left = self.operand(live)
        while self.peek() in ("<", "<=", "="):
            sign, right = self.next(), self.operand(live)
            if live:
                left = left < right if sign == "<" else left <= right if sign == "<=" else left == right
        return left

    def operand(self, live):
        token = self.next()
        if token.endswith("("):
            return self.call(token[:-1], live)
        if token[0] == '"':
            return token[1:-1].replace('""', '"')
        if token in ("TRUE", "FALSE"):
            return token == "TRUE"
        if "!" in token and ":" in token:
            return token
        if token[0] in "$ABCDEFGHIJKLMNOPQRSTUVWXYZ":
            if self.peek() == ":":
                self.next()
                return (token, self.next())
            return self.book.value(self.sheet, token) if live else None
        return float(token)

    def arguments(self, live):
        found = []
        while True:
            found.append(self.comparison(live))
            if self.next() == ")":
                return found

    def call(self, name, live):
        if name == "IF":
            condition = self.comparison(live)
            assert self.next() == ","
            first = self.comparison(live and bool(condition))
            assert self.next() == ","
            second = self.comparison(live and not condition)
            assert self.next() == ")"
            return first if condition else second
        given = self.arguments(live)
        if not live:
            return None
        if name == "ISNUMBER":
            return isinstance(given[0], (int, float)) and not isinstance(given[0], bool)
        if name == "EXACT":
            return _shown(given[0]) == _shown(given[1])
        if name == "OR":
            return any(given)
        if name == "INDEX":
            sheet, letter = re.fullmatch(r"([a-z]+)!\$([A-Z]+):\$\2", given[0]).groups()
            return self.book.value(sheet, f"{letter}{int(given[1])}")
        assert name == "COUNTA", name
        cells = self.book.book[self.sheet][f"{given[0][0]}:{given[0][1]}".replace("$", "")]
        cells = cells[0] if isinstance(cells, tuple) else [cells]
        return sum(cell.value is not None for cell in cells)


def _shown(value):
    """A value as Excel turns it into text."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return f"{value:.15g}"
    return "" if value is None else value
