"""`worthwhile show`: a model as text, rules, Graphviz, JSON or a picture."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from worthwhile.cli.common import Printer, check_writable, load_model
from worthwhile.cli.options import Model, Quiet

__all__ = ["show"]

PICTURES = (".png", ".svg", ".pdf")
FACTORS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # of error costs


class Form(StrEnum):
    """Output formats."""

    text = "text"
    rules = "rules"
    dot = "dot"
    json = "json"


def show(
    model: Model,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.text,
    plot: Annotated[
        Path | None, typer.Option(help=f"Also draw it to this file ({', '.join(PICTURES)}).", show_default=False)
    ] = None,
    tree: Annotated[
        int | None, typer.Option(min=1, help="Number of a tree of a forest; otherwise all trees.", show_default=False)
    ] = None,
    max_depth: Annotated[
        int | None,
        typer.Option(min=1, help="Levels of the tree to draw; otherwise as many as are readable.", show_default=False),
    ] = None,
    explain_choice: Annotated[
        bool, typer.Option("--explain-choice", help="What AutoClassifier has tried, and why it chose this model.")
    ] = False,
    cost_curve: Annotated[
        bool, typer.Option("--cost-curve", help="Show what a case costs if errors cost less or more.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Show a model: its tests with their prices at each node, and its answers.

    Example: worthwhile show model.json --format rules --plot tree.svg

    Example: worthwhile show model.json --cost-curve
    """
    _check_picture(plot)
    from worthwhile.evaluation.metrics import context_of

    known = load_model(model)
    if explain_choice or cost_curve or hasattr(known, "stages_"):
        show_it = _explain_choice if explain_choice else _show_cost_curve if cost_curve else _show_cascade
        show_it(known, model, plot, Printer(quiet), tree is not None or form != Form.text)
        return
    trees = _trees(known, model, tree)
    if plot is not None and len(trees) > 1:
        raise ValueError(f"{plot}: a picture shows one of the {len(trees)} trees; choose it with --tree")
    say = Printer(quiet)
    if not trees and form != Form.json:
        say("The forest has no trees: none fits the budget, so it asks for no test.")
    forest = hasattr(known, "trees_")
    if forest and trees and tree is None and form in (Form.text, Form.rules):
        say(_about_forest(known))
    currency = context_of(known).costs.currency
    if currency and trees and form in (Form.text, Form.rules):
        say(f"Amounts in {currency}.")
    shown = {number: _as_text(one, form, not forest) for number, one in trees.items()}
    if len(trees) > 1 and form == Form.json:
        say("[\n" + ",\n".join(shown.values()) + "\n]", wrap=False)
    else:
        for number, text in shown.items():
            if len(trees) > 1 and form in (Form.text, Form.rules):
                say(f"tree {number}")
            say(text, wrap=False)
    if not forest and form == Form.text:
        _say_notes(known, trees[1], say)
    if form in (Form.text, Form.rules) and (cap := _cap(known)) is not None:
        say(f"No case pays more than {cap} for its tests.")
    if plot is not None:
        _draw(plot, next(iter(trees.values())), max_depth)
        say(f"Picture: {plot}", wrap=False)


def _say_notes(known: Any, tree: Any, say: Printer) -> None:
    """Print what may surprise in the text of a tree, and what a new case is expected to cost."""
    from worthwhile.tree.text import expectation, text_notes

    for note in text_notes(tree):
        say(note)
    chosen = known._expected_cost() if hasattr(known, "candidates_") else None
    if note := expectation(tree, chosen):
        say()
        say(note)


def _explain_choice(known: Any, path: Path, plot: Path | None, say: Printer, as_tree: bool) -> None:
    """Show what was tried before this model was chosen; with a picture if it is wanted."""
    if as_tree:
        raise ValueError("--explain-choice shows a table; leave out --tree and --format")
    if not hasattr(known, "candidates_"):
        raise ValueError(f"{path}: no other learner was tried; worthwhile learn without --learner tries several")
    say(known.explain_choice(), wrap=False)
    if plot is not None:
        import io

        from matplotlib import pyplot

        from worthwhile.displays import CandidatesDisplay
        from worthwhile.files import write_file

        figure, content = CandidatesDisplay.from_estimator(known).figure_, io.BytesIO()
        figure.savefig(content, format=plot.suffix.lower().removeprefix("."), dpi=150)
        pyplot.close(figure)
        write_file(plot, content.getvalue())
        say(f"Picture: {plot}", wrap=False)


def _show_cost_curve(model: Any, path: Path, plot: Path | None, say: Printer, as_tree: bool) -> None:
    """Show what a case is expected to cost if all error costs are multiplied by a factor.

    The tree stays as it is; a factor changes no answer of least cost.
    """
    from worthwhile.cli.reading import trees_of
    from worthwhile.tree.node_costs import node_costs
    from worthwhile.tree.repricing import cost_parts
    from worthwhile.wording import BY_PROBABILITIES, amount

    if plot is not None or as_tree:
        raise ValueError(f"{path}: --cost-curve is a table; leave out --plot, --tree and --format")
    trees = trees_of(model)
    if hasattr(model, "trees_") or not trees:
        raise ValueError(f"{path}: --cost-curve needs a single tree, not a forest or a cascade; use evaluate --costs")
    parts, stop = cost_parts(trees[0]), node_costs(trees[0])[0].stop_cost
    if parts is None or stop is None:
        raise ValueError(f"{path}: the tree has no training weights, so what a case costs is unknown")
    highest = float(trees[0].error_costs.max())
    rows = []
    for factor in FACTORS:
        totals = parts.tests + factor * parts.errors, factor * stop
        better = "model" if totals[0] <= totals[1] else "no test"
        cells = (factor * highest, parts.tests, factor * parts.errors, *totals)
        rows.append([f"{factor:g}", *map(amount, cells), better])
    headings = ["errors times", "highest", "tests", "errors", "model", "no test", "cheaper"]
    say(f"Expected cost per case, {BY_PROBABILITIES}, if all errors cost less or more:")
    say.table(headings, rows)
    if parts.tests > 0 and stop > parts.errors:
        limit = parts.tests / (stop - parts.errors)
        say(f"Below {limit:.2g} times the present error costs, answering without a test is cheaper.")


def _check_picture(path: Path | None) -> None:
    if path is not None and path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path}: unknown picture format; use {', '.join(PICTURES)}")
    check_writable(path)


def _show_cascade(cascade: Any, path: Path, plot: Path | None, say: Printer, as_tree: bool) -> None:
    """Show the sets of tests of a cascade."""
    from worthwhile.wording import LEFT_OUT, amount, with_currency

    if as_tree or plot is not None:
        raise ValueError(f"{path}: a cascade has sets of tests, not a tree; leave out --plot, --tree and --format")
    problem = cascade.problem_
    if len(cascade.stages_) == 1:
        say("A cascade of a single set of tests, which every case does.")
    else:
        say(f"A cascade of {len(cascade.stages_)} sets of tests; a case answers as soon as no larger set pays.")
    for number, tests in enumerate(cascade.stages_, start=1):
        price = with_currency(amount(problem.pricing.price(problem.closure_of(tests))), problem.costs.currency)
        say(f"set {number}: {price}, {', '.join(tests) or 'no test'}")
    if hasattr(cascade, "expected_cost_"):
        mean, (low, high) = cascade.expected_cost_, cascade.expected_cost_interval_
        cost = with_currency(amount(mean), problem.costs.currency)
        say(f"A new case is expected to cost {cost} ({amount(low)} to {amount(high)}), {LEFT_OUT}.")
    if (cap := _cap(cascade)) is not None:
        say(f"No case pays more than {cap} for its tests.")


def _trees(model: Any, path: Path, number: int | None) -> dict[int, Any]:
    """Return the trees to show, by number."""
    from worthwhile.cli.reading import trees_of

    trees = dict(enumerate(trees_of(model), 1))
    if number is None:
        return trees
    if number not in trees:
        raise ValueError(f"{path}: there is no tree {number}; the model has {len(trees)}")
    return {number: trees[number]}


def _cap(model: Any) -> str | None:
    """Return what no case may pay more than; None: there is no limit."""
    from worthwhile.tree.tree import Tree
    from worthwhile.wording import amount

    cap = (model.context if isinstance(model, Tree) else model.problem_).cap
    return None if cap is None else amount(cap)


def _about_forest(forest: Any) -> str:
    """Return what a forest costs: its trees vote, so none of them has an expected cost of its own."""
    from worthwhile.wording import amount, with_currency

    record, currency = forest.record_, forest.problem_.costs.currency
    costs = f"tests cost {amount(record.price)} and errors {with_currency(amount(record.error_cost), currency)}"
    return f"A forest of {len(forest.trees_)} trees, which vote. Per validation case {costs}; {record.error:.1%} wrong."


def _as_text(tree: Any, form: Form, expected_costs: bool) -> str:
    if form == Form.rules:
        return "\n".join(tree.rules(expected_costs))
    if form == Form.text:
        return str(tree.to_text(expected_costs))
    return str(tree.to_dot() if form == Form.dot else tree.to_json())


def _draw(path: Path, tree: Any, max_depth: int | None) -> None:
    from worthwhile.files import write_file
    from worthwhile.report import tree_picture

    write_file(path, tree_picture(tree, path.suffix.lower().removeprefix("."), max_depth))
