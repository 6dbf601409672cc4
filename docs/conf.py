"""How Sphinx builds these pages: ``sphinx-build -W --keep-going -n docs build/docs`` (extra: docs), without a network.

Formulas become MathML, which browsers typeset themselves: the pages need no network and no script to be read.
"""

from __future__ import annotations

import contextlib
import io
import os
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.docutils import SphinxDirective

import worthwhile

project = "worthwhile"
author = "The worthwhile developers"
copyright = author
version = release = worthwhile.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"worthwhile {version}"
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

default_role = "code"  # single backticks in docstrings
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes in the text of their class, without entries of their own
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say it in words
# Types are words there, such as "sequence of numbers", and no network is asked for those of other projects.
nitpick_ignore_regex = [(r"py:.*", r".*")]
suppress_warnings = ["ref.python"]  # and some of these words are names of several things


class CommandHelp(SphinxDirective):
    """What a command of the command line says about itself: ``{command-help} learn``."""

    optional_arguments = 2
    final_argument_whitespace = True

    def run(self) -> list[Any]:
        from worthwhile.cli import run

        os.environ |= {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb"}
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            code = run([*self.arguments, "--help"])
        if code != 0:
            raise self.error(f"worthwhile {' '.join(self.arguments)} --help ends with code {code}")
        text = "\n".join(line.rstrip() for line in output.getvalue().strip("\n").splitlines())
        return [nodes.literal_block(text, text, language="text")]


def write_formula(writer: Any, node: Any) -> None:
    """Write a formula within a line."""
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def write_display(writer: Any, node: Any) -> None:
    """Write a formula of its own."""
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Tell Sphinx about the directive and about formulas."""
    app.add_directive("command-help", CommandHelp)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_display, None))
