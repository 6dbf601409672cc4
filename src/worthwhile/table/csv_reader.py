"""Reads CSV files: finds the encoding and the delimiter, and reports mistakes with their line.

Line numbers are not kept: to report a mistake, the file is read again.
"""

from __future__ import annotations

import codecs
import csv
import functools
import gzip
import io
import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from worthwhile.costs.error_costs import listing, show
from worthwhile.files import guess_encoding
from worthwhile.table.text_columns import parse_number

__all__ = ["CsvFile", "check_header", "is_blank", "rows_per_chunk"]

FIRST = "column 1"
DELIMITERS = (",", ";", "\t", "|")
MAX_LINE = 2**24  # characters, enough for a million columns
CHUNK_CELLS = 2**20  # of a chunk of rows, unless one row has more
CHUNK_ROWS = 4096  # 300,000 × 10 take 1.0 s in chunks of this size and 1.3 s in chunks of 20,000
BLOCK = 2**20  # bytes read at once to find the encoding
SAMPLE_ROWS = 20  # rows read to find the delimiter


class _BoundedText(io.TextIOWrapper):
    """A text file whose lines are not read without limit: a small gzip file may hold one line of gigabytes."""

    def __init__(self, path: Path, file: Any, encoding: str) -> None:
        super().__init__(file, encoding=encoding, newline="")
        self._path, self._line = path, 0

    def __next__(self) -> str:  # type: ignore[override]
        line = self.readline(MAX_LINE)
        if not line:
            raise StopIteration
        self._line += 1
        if len(line) == MAX_LINE and line[-1] not in "\r\n":
            raise ValueError(f"{self._path}, line {self._line}: has more than {MAX_LINE:,} characters")
        return line


class CsvFile:
    """A CSV file, compressed or not.

    Parameters
    ----------
    path : Path
    encoding : str, optional
        None: UTF-8 or UTF-16, otherwise cp1252.
    tell : function, optional
        Called now and then with the number of bytes read and the size of the file.
    """

    def __init__(
        self, path: Path, encoding: str | None = None, tell: Callable[[int, int | None], None] | None = None
    ) -> None:
        self.path, self._given, self._tell = path, encoding, tell
        if encoding is not None:
            _check_encoding(encoding)

    @functools.cached_property
    def encoding(self) -> str:
        """The encoding of the text; for UTF-8, "utf-8-sig", which skips a byte order mark."""
        if self._given is not None:
            name = codecs.lookup(self._given).name
            return "utf-8-sig" if name == "utf-8" else name
        with self._opened() as (file, _):
            found = guess_encoding(iter(lambda: file.read(BLOCK), b""))
        if found is None:
            self._raise_undecodable("cp1252", "is neither UTF-8 nor Windows (cp1252) text", "name its")
        return found

    @functools.cached_property
    def delimiter(self) -> str:
        """What separates the cells: the delimiter that cuts the first rows into equally many cells, at least two."""
        widths = {delimiter: self._widths(delimiter) or [1] for delimiter in DELIMITERS}
        if max(found[0] for found in widths.values()) == 1:
            return DELIMITERS[0]
        # Ties go to the other delimiters: "height, cm;weight, kg" has as many commas as semicolons.
        return max(DELIMITERS, key=lambda d: (len(set(widths[d])) == 1 < widths[d][0], widths[d][0], d != ","))

    @functools.cached_property
    def names(self) -> list[str]:
        """The checked column names."""
        header = next((found for found in self._rows() if not is_blank(found[1])), None)
        if header is None:
            raise ValueError(f"{self.path}: the file is empty; its first line must contain the column names")
        where, cells = f"{self.path}, line {header[0]}", header[1]
        while len(cells) > 1 and not cells[-1].strip():
            cells = cells[:-1]  # every line ends with a delimiter
        if len(cells) == 1 or len(set(self._widths(self.delimiter))) > 1:
            self._check_title(where, cells)
        return check_header(cells, where)

    def _check_title(self, where: str, cells: Sequence[str]) -> None:
        """Raise an error if the first line has one cell and all others have more; a title may contain commas."""
        for delimiter in DELIMITERS:
            first, *others = self._widths(delimiter)
            below = set(others)
            if (first == 1 or len(cells) == 1) and len(others) > 1 and len(below) == 1 and (width := below.pop()) > 1:
                raise title_error(where, self.delimiter.join(cells), width)

    def chunks(self) -> Iterator[list[list[str]]]:
        """Yield the rows below the header in chunks, without blank lines."""
        width, done = len(self.names), 0
        most, rows = rows_per_chunk(width), []
        try:
            with self._reader(strict=True) as (reader, tell):
                while is_blank(next(reader)):
                    pass  # blank lines above the header
                for row in reader:
                    if len(row) == width:
                        rows.append(row)
                    elif len(row) > width and not is_blank(row) and is_blank(row[width:]):
                        rows.append(row[:width])  # the line ends with a delimiter
                    elif not is_blank(row):
                        self._raise_width(done + len(rows), width)
                    if len(rows) == most:
                        tell()
                        yield rows
                        done, rows = done + most, []
                tell()
                if rows:
                    yield rows
        except csv.Error:
            for _ in self._rows():  # raises with the line number
                pass
            raise

    def location(self, row: int) -> str:
        """Return file and line of a case; the first case is row 0."""
        return f"{self.path}, line {self._find(row)[0]}"

    @contextmanager
    def _opened(self) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
        """Give the content, unpacked, and the file itself; what fails is reported with the name of the file."""
        if not self.path.exists():
            raise FileNotFoundError(f"{self.path}: no such file")
        if not self.path.is_file():
            raise ValueError(f"{self.path}: is not a file")
        zipped = self.path.suffix.lower() == ".gz"
        try:
            with self.path.open("rb") as raw:
                yield (gzip.GzipFile(fileobj=raw) if zipped else raw), raw  # type: ignore[misc]
        except (OSError, EOFError, zlib.error) as error:
            if zipped:
                raise ValueError(f"{self.path}: is not a complete gzip file: {error}") from None
            raise ValueError(f"{self.path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None

    @contextmanager
    def _reader(
        self, delimiter: str | None = None, strict: bool = False
    ) -> Iterator[tuple[Iterator[list[str]], Callable[[], None]]]:
        """Give the rows, and a function that tells how far they were read."""
        encoding = self.encoding
        with self._opened() as (content, raw):
            text = _BoundedText(self.path, content, encoding)
            size = self.path.stat().st_size

            def tell() -> None:
                if self._tell is not None:
                    self._tell(raw.tell(), size)

            try:
                yield csv.reader(text, delimiter=delimiter or self.delimiter, strict=strict), tell
            except UnicodeError:
                self._raise_undecodable(encoding, f"cannot be read as {encoding.removesuffix('-sig')}", "name another")
            finally:
                text.detach()  # its garbage collection would close the file

    def _widths(self, delimiter: str) -> list[int]:
        """Return the numbers of cells of the first rows with this delimiter; cells may contain line breaks."""
        with self._reader(delimiter) as (reader, _):
            try:
                return [len(row) for row in itertools.islice(filter(lambda r: not is_blank(r), reader), SAMPLE_ROWS)]
            except csv.Error:  # with the wrong delimiter a wide header is one cell, which may be too long
                return [1]

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line number and the cells of each row."""
        with self._reader(strict=True) as (reader, _):
            start = 1
            while True:
                try:
                    row = next(reader, None)
                except csv.Error as error:
                    raise ValueError(f"{self.path}, line {start}: invalid CSV: {error}") from None
                if row is None:
                    return
                yield start, row
                start = reader.line_num + 1  # type: ignore[attr-defined]

    def _find(self, row: int) -> tuple[int, list[str]]:
        """Return the line number and the cells of a case."""
        lines, width = self._rows(), len(self.names)
        next(cells for _, cells in lines if not is_blank(cells))  # the header
        cases = (found for found in lines if len(found[1]) == width or not is_blank(found[1]))
        return next(itertools.islice(cases, row, None))

    def _raise_width(self, row: int, width: int) -> NoReturn:
        line, cells = self._find(row)
        held = f"has {len(cells)} cell{'s' * (len(cells) != 1)}"
        raise ValueError(f"{self.path}, line {line}: {held}, but the first line has {width} columns") from None

    def _raise_undecodable(self, encoding: str, problem: str, choose: str) -> NoReturn:
        advice = f"{choose} encoding with --encoding, or save the file as UTF-8"
        decoder, line, start, block = codecs.getincrementaldecoder(encoding)(), 1, None, b""
        try:
            with self._opened() as (file, _):
                while block or start is None:  # an empty last block ends a cut off character
                    block, start = file.read(BLOCK), decoder.getstate()
                    line += decoder.decode(block, final=not block).count("\n")
        except UnicodeDecodeError as error:
            if start is not None:
                decoder.setstate(start)
            valid = len(block) - (len(error.object) - error.start)
            line += decoder.decode(block[: max(valid, 0)]).count("\n")
            byte = error.object[error.start]
            raise ValueError(f"{self.path}, line {line}: {problem} (byte 0x{byte:02x}); {advice}") from None
        except UnicodeError:
            pass  # such as UTF-16 without a byte order mark
        raise ValueError(f"{self.path}: {problem}; {advice}") from None


def _check_encoding(name: str) -> None:
    try:
        known = "".encode(name) is not None
    except (LookupError, UnicodeError, ValueError):
        known = False
    if not known:
        raise ValueError(f"--encoding {name}: unknown encoding; for example utf-8, utf-16, cp1252, latin-1, mac-roman")


def check_header(cells: Sequence[str], where: str) -> list[str]:
    """Return the column names; raise an error if one is missing, appears twice, or all of them are numbers.

    The first column may be without a name: it is called "column 1".
    """
    names = [cell.strip() for cell in cells]
    if not names[0] and len(names) > 1 and FIRST not in names:
        names[0] = FIRST  # as pandas writes the index of a frame
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not name:
            raise ValueError(f"{where}: column {position + 1} of {len(names)} has no name")
        if name in seen:
            raise ValueError(f"{where}: two columns are named {show(name)}; every column needs a unique name")
        seen.add(name)
    if all(parse_number(name) is not None for name in names):
        raise ValueError(
            f"{where}: contains numbers ({listing(names, 3)}); the first line must contain the column names"
        )
    return names


def title_error(where: str, cell: str, width: int) -> ValueError:
    """Return an error about a first line with one cell, above lines with as many as `width`."""
    found = f"has a single cell, {show(cell.strip())}, but the lines below have {width}"
    return ValueError(f"{where}: {found}; if it is a title, remove it: column names must come first")


def rows_per_chunk(width: int) -> int:
    """Return how many rows of this width are read at once."""
    return min(CHUNK_ROWS, max(CHUNK_CELLS // width, 1))


def is_blank(row: Sequence[str]) -> bool:
    """Return whether all cells of a row are empty."""
    return not any(cell.strip() for cell in row)
