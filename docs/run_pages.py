"""Run the blocks of the pages, and check or write their output.

    python docs/run_pages.py                      # check all pages
    python docs/run_pages.py --write              # write the real output and the pictures into them
    python docs/run_pages.py --write tutorial.md

A page is run from top to bottom in an empty folder; the blocks of a page share the folder and the Python names.

================================  ==================================================================================
block                             what happens
================================  ==================================================================================
```` ```python ````               examples with ``>>>`` are checked as doctests; others are run
```` ```sh ````                   is run; a ```` ```text ```` block right below must be its output; ``…`` stands for
                                  anything
```` ```console ````              ``$ command`` is run in its own terminal; the input is in a comment above,
                                  ``<!-- typed: yes | 63 -->``, and the rest of the block is the screen
```` ```{code-block} … ````       with ``:caption: FILE`` is written to that file
================================  ==================================================================================

A block below ``<!-- not run: why -->`` is skipped. A picture ``pictures/NAME.png`` must be made by the page that shows
it, or is a screenshot of ``NAME.html``, which the page made. A page with ``<!-- made with: … -->`` holds numbers that
depend on the versions of libraries: with other versions it is run, but its output is not compared.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAGES = ("tutorial.md", "costs.md", "howto/*.md")
FENCE = re.compile(r"^```(\S[^\n]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!-- (typed|not run|made with): ?(.*?) ?-->", re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\((?:\.\./)?pictures/([\w-]+\.png)\)")
LIBRARIES = ("numpy", "scipy", "scikit-learn")
SECONDS = 900  # others may keep the machine busy
# Pages run in another folder: relative paths would not work there.
MODULES = os.pathsep.join(
    os.path.abspath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place
)


@dataclass
class Block:
    """A fenced block of a page."""

    kind: str
    text: str
    start: int  # of the text, in the page
    line: int
    output: Block | None = None  # the block that shows what comes out
    comments: dict[str, str] = field(default_factory=dict)


def blocks_of(page: str) -> list[Block]:
    """Return the blocks of a page, each with the comments right above it and the output right below."""
    found: list[Block] = []
    end = 0
    for match in FENCE.finditer(page):
        between = page[end : match.start()]
        block = Block(match[1].strip(), match[2], match.start(2), page.count("\n", 0, match.start()) + 1)
        last = found[-1] if found else None
        if block.kind == "text" and last is not None and last.kind == "sh" and not between.strip():
            last.output = block
        above = between.rsplit("\n\n", 1)[-1] if between.strip() else ""
        block.comments = {m[1]: m[2] for m in COMMENT.finditer(above)}
        found.append(block)
        end = match.end()
    return found


class Runner:
    """Runs the blocks of one page in the current folder; notes what differs and what the page should show."""

    def __init__(self, name: str, tools: Path, compare: bool) -> None:
        self.name, self.compare = name, compare
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.wrong: list[str] = []
        self.changes: list[tuple[int, int, str]] = []  # from, to, new text
        self.environment = os.environ | {
            "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": MODULES,
            "COLUMNS": "80",
            "LINES": "50",
            "NO_COLOR": "1",
            "TERM": "dumb",
            "MPLBACKEND": "Agg",
        }

    def run(self, block: Block) -> None:
        if "not run" in block.comments:
            return
        caption = re.match(r":caption: (\S+)\n\n?", block.text) if block.kind.startswith("{code-block}") else None
        if caption:
            Path(caption[1]).write_text(block.text[caption.end() :], encoding="utf-8")
        elif block.kind == "python":
            self._python(block)
        elif block.kind == "sh":
            self._shell(block)
        elif block.kind == "console":
            self._console(block)

    def _complain(self, block: Block, text: str) -> None:
        self.wrong.append(f"{self.name}, line {block.line}: {text}")

    def _python(self, block: Block) -> None:
        if ">>>" not in block.text:
            exec(compile(block.text, f"{self.name}:{block.line}", "exec"), self.names)
            return
        test = doctest.DocTestParser().get_doctest(block.text, self.names, self.name, self.name, block.line)
        said: list[str] = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append, clear_globs=False)
        self.names |= test.globs
        if said:
            self._complain(block, "".join(said))

    def _shell(self, block: Block) -> None:
        done = subprocess.run(
            ["sh", "-eu", "-c", block.text], capture_output=True, text=True, check=False, env=self.environment,
            stdin=subprocess.DEVNULL, timeout=SECONDS,
        )  # fmt: skip
        if done.returncode != 0:
            self._complain(block, f"ended with code {done.returncode}: {done.stderr.strip()}")
        if block.output is not None:
            self._hold(block.output, block.output.text, done.stdout)

    def _console(self, block: Block) -> None:
        first, _, shown = block.text.partition("\n")
        command = first.removeprefix("$ ")
        typed = [text.strip() for text in block.comments.get("typed", "").split("|")]
        code, screen = in_terminal(command, typed, self.environment)
        if code != 0:
            self._complain(block, f"{command} ended with code {code}: {screen}")
        self._hold(block, shown, screen, skip=len(first) + 1)

    def _hold(self, block: Block, expected: str, got: str, skip: int = 0) -> None:
        """Compare what a page shows with the output, and note what it should show."""
        clean = "\n".join(line.rstrip() for line in got.splitlines()).strip("\n") + "\n"
        if not matches(expected, clean):
            if self.compare:
                self._complain(block, f"shows\n{expected}but the output is\n{clean}")
            start = block.start + skip
            self.changes.append((start, start + len(expected), softened(clean)))


def in_terminal(command: str, typed: list[str], environment: dict[str, str]) -> tuple[int, str]:
    """Run a command in a terminal, type an answer at every prompt, and return its code and what the screen shows."""
    terminal, other_side = pty.openpty()
    process = subprocess.Popen(
        ["sh", "-c", f"stty cols 80 && exec {command}"],
        stdin=other_side,
        stdout=other_side,
        stderr=other_side,
        start_new_session=True,
        env=environment,
    )
    os.close(other_side)
    shown, answers, deadline = b"", list(typed), time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.3)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:  # the other side is closed
                break
            shown += more
        elif answers and shown.endswith(b": "):
            os.write(terminal, answers.pop(0).encode() + b"\n")
            shown += b"\0"  # no longer a prompt
    else:
        process.kill()
    os.close(terminal)
    return process.wait(), shown.replace(b"\0", b"").replace(b"\r", b"").decode()


def matches(expected: str, got: str) -> bool:
    """Whether the output is as expected; "…" stands for anything within a line, or, alone, for any lines."""
    pattern = re.escape(expected.strip()).replace(re.escape("\n…\n"), r"\n(?:.*\n)*").replace("…", ".*")
    return re.fullmatch(pattern, got.strip()) is not None


def softened(text: str) -> str:
    """Replace what differs every time: seconds."""
    return re.sub(r"\b\d+\.\d s\b", "… s", text)


def take_screenshot(html: Path, png: Path) -> None:
    """Take a screenshot of a page with the browser; without a browser the old picture stays."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print(f"no browser found: {png.name} is not updated", file=sys.stderr)
        return
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1400"]
    subprocess.run(
        [browser, *options, f"--screenshot={png}", html.resolve().as_uri()],
        check=True, timeout=SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def versions() -> str:
    """Return the versions of the libraries that numbers depend on."""
    return ", ".join(f"{name} {version(name)}" for name in LIBRARIES)


@contextlib.contextmanager
def tools() -> Iterator[Path]:
    """Give a folder with the programs that pages call, run by this Python."""
    with tempfile.TemporaryDirectory() as folder:
        for name, words in (("worthwhile", "-m worthwhile"), ("python", ""), ("python3", "")):
            path = Path(folder) / name
            path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
            path.chmod(0o755)
        yield Path(folder)


def pages() -> list[Path]:
    """Return the pages with blocks to run."""
    return [path for pattern in PAGES for path in sorted(DOCS.glob(pattern)) if runnable(path)]


def runnable(path: Path) -> bool:
    """Whether a page has a block to run."""
    return any(block.kind in ("python", "sh", "console") for block in blocks_of(path.read_text(encoding="utf-8")))


def run_page(path: Path, write: bool = False) -> list[str]:
    """Run a page in the current folder; return what is wrong, or, with `write`, correct the page."""
    page = path.read_text(encoding="utf-8")
    made_with = next((m[2] for m in COMMENT.finditer(page) if m[1] == "made with"), None)
    with tools() as folder:
        runner = Runner(str(path.relative_to(DOCS)), folder, compare=made_with in (None, versions()))
        for block in blocks_of(page):
            runner.run(block)
    for name in PICTURE.findall(page):
        made = sorted(Path().rglob(name))
        if not made and Path(name).with_suffix(".html").exists():
            if write:
                take_screenshot(Path(name).with_suffix(".html"), DOCS / "pictures" / name)
        elif not made:
            runner.wrong.append(f"{runner.name}: shows {name}, but does not make it")
        elif write:
            (DOCS / "pictures").mkdir(exist_ok=True)
            shutil.copy(made[0], DOCS / "pictures" / name)
    if write:
        for start, end, text in sorted(runner.changes, reverse=True):
            page = page[:start] + text + page[end:]
        if made_with is not None:
            page = re.sub(r"<!-- made with:.*?-->", f"<!-- made with: {versions()} -->", page)
        path.write_text(page, encoding="utf-8")
    return runner.wrong


def main() -> int:
    """Run pages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="relative to docs; default: all")
    parser.add_argument("--write", action="store_true", help="write the real output and the pictures into the pages")
    options = parser.parse_args()
    os.environ["MPLBACKEND"] = "Agg"
    chosen = [DOCS.resolve() / name for name in options.pages] or [path.resolve() for path in pages()]
    wrong = []
    here = Path.cwd()
    for path in chosen:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            print(path.name, flush=True)
            wrong += run_page(path, options.write)
            os.chdir(here)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
