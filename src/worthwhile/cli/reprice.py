"""`worthwhile reprice`: other prices or error costs on a model; what changes, and whether a new tree would differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from worthwhile.cli.common import Printer, check_apart, check_writable, load_model, open_table
from worthwhile.cli.options import (
    Dates,
    Decimal,
    DropMissingTarget,
    Encoding,
    IgnoreExtraPrices,
    MaybeTarget,
    Missing,
    Model,
    Quiet,
    Sheet,
)

__all__ = ["reprice"]


class CostRow(NamedTuple):
    """A line of the comparison: what it is, and what a case costs for tests and in errors."""

    name: str
    tests: float
    errors: float

    def cells(self) -> list[str]:
        from worthwhile.wording import amount

        return [self.name, amount(self.tests), amount(self.errors), amount(self.tests + self.errors)]


def reprice(
    model: Model,
    costs: Annotated[
        Path | None, typer.Option(help="The new price list: TOML, CSV or Excel.", show_default=False)
    ] = None,
    errors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COST or TRUTH:ANSWER=COST",
            help="New error costs: one for all errors, or that of one error. May be repeated.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the model with the new costs.", show_default=False)
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Cases to measure both lists on, and to learn a new tree from.", show_default=False),
    ] = None,
    target: MaybeTarget = None,
    missing: Missing = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    dates: Dates = None,
    sheet: Sheet = None,
    drop_missing_target: DropMissingTarget = False,
    ignore_extra_prices: IgnoreExtraPrices = False,
    quiet: Quiet = False,
) -> None:
    """Put new prices or error costs on a model: what changed, what a case costs then, and whether a new tree differs.

    The model asks for the same tests as before. If errors cost something else, a model that answers by least cost
    changes its answers where that is cheaper. Costs are those by the model's own probabilities, and with --data also
    measured on cases; then a new model is learned from these, too, to compare. Use evaluate --costs to measure without
    changes.

    Example: worthwhile reprice model.json --costs prices-2027.toml -o new.json

    Example: worthwhile reprice model.json --errors sick:buff=800 --data heart.csv --target class
    """
    from worthwhile.cli.limits import errors_that_pay
    from worthwhile.costs.comparison import compare_costs
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.learners.repricing import repriced_model

    check_apart({"--out": out}, [model, costs, data])
    check_writable(out)
    if costs is None and not errors:
        raise ValueError("name new prices with --costs, or new error costs with --errors")
    clf, say = load_model(model), Printer(quiet)
    context = context_of(clf)
    new = _new_costs(context, costs, errors, ignore_extra_prices)
    try:
        kept, changed = repriced_model(clf, new, answers=False), repriced_model(clf, new)
    except ValueError as error:
        raise ValueError(f"{model}: {error}") from None
    for line in errors_that_pay(new, context.classes):
        say.warn(line)
    differences = compare_costs(context.costs, new, context.classes)
    if differences:
        say.listing(["what", "old", "new"], differences, flexible=["new", "old", "what"])
    else:
        given = "the new error costs are" if costs is None else "prices, groups and error costs are"
        say(f"Nothing changes: {given} those of the model.")
    if context.costs.currency and new.currency not in ("", context.costs.currency):
        say.warn(f"the currency was {context.costs.currency} and is now {new.currency}; amounts are not converted")
    models = _named(clf, kept, changed, bool(differences))
    _say_expected(models, say)
    for line in _idle_tests(models.get("new list, new answers")):
        say(line)
    if differences and "new list, new answers" not in models and _answers_can_change(clf, context.costs, new):
        say("The model gives the same answers as before.")
    if data is not None:
        with open_table(data, quiet, missing, encoding=encoding, decimal=decimal, dates=dates, sheet=sheet) as source:
            _measure(models, changed, source, target, drop_missing_target, say)
    if out is not None:
        _save(changed, out)
        say(f"Model with the new costs: {out}", wrap=False)


def _new_costs(context: Any, path: Path | None, errors: Sequence[str] | None, ignore_extra: bool) -> Any:
    """Return the new price list, checked against the model."""
    from worthwhile.cli.reading import check_costs, without_extra
    from worthwhile.costs.costs import Costs

    new = context.costs if path is None else Costs.read(path)
    if path is not None:
        if ignore_extra:
            new, _ = without_extra(new, path, context.columns)
        check_costs(new, path, context.columns, None, list(context.classes))
    return _with_errors(new, context, errors) if errors else new


def _with_errors(costs: Any, context: Any, errors: Sequence[str]) -> Any:
    """Return costs with the error costs that --errors names."""
    from worthwhile.costs.error_costs import show

    answers, matrix = costs.error_matrix(context.classes)
    table = {
        truth: {answer: float(matrix[i, j]) for j, answer in enumerate(answers)}
        for i, truth in enumerate(context.classes)
    }
    places = {f"{truth}:{answer}": (truth, answer) for truth in table for answer in answers}
    for text in errors:
        place, equals, cost = text.rpartition("=")
        try:
            value = float(cost)
        except ValueError:
            raise ValueError(f"--errors {text}: write a cost, or TRUTH:ANSWER=COST") from None
        if not equals:
            if len(errors) > 1:
                raise ValueError(f"--errors {text}: one cost for all errors stands alone")
            return costs.with_errors(value)
        if place.strip() not in places:
            classes = ", ".join(show(name, long=True) for name in map(str, answers))
            raise ValueError(
                f"--errors {text}: there is no such error; write TRUTH:ANSWER=COST with the classes {classes}"
            )
        truth, answer = places[place.strip()]
        table[truth][answer] = value
    return costs.with_errors(table)


def _single_tree(model: Any) -> Any:
    """Return the tree of a model; None if it is another kind of model."""
    from worthwhile.learners.tree_classifier import TreeClassifier
    from worthwhile.tree.tree import Tree

    model = getattr(model, "best_estimator_", model)
    if isinstance(model, Tree):
        return model
    return model._tree() if isinstance(model, TreeClassifier) else None


def _answers_can_change(model: Any, before: Any, after: Any) -> bool:
    """Return whether errors cost something else, which a model may answer by."""
    return bool(before.errors != after.errors and _single_tree(model) is not None)


def _idle_tests(model: Any) -> list[str]:
    """Return a line for each test that changes no answer of a model any more."""
    from worthwhile.tree.text import idle_tests

    tree = None if model is None else _single_tree(model)
    if tree is None:
        return []
    return [
        f"Whatever the result of {tree.columns[tree.nodes.test[node]]}, the new answer is {answer}: "
        "the model still does the test, but it changes nothing; learn a new model."
        for node, answer in idle_tests(tree).items()
    ]


def _say_expected(models: Mapping[str, Any], say: Printer) -> None:
    """Print what a case is expected to cost by the figures of the models."""
    from worthwhile.tree.node_costs import node_costs
    from worthwhile.tree.repricing import cost_parts
    from worthwhile.wording import BY_PROBABILITIES, LEFT_OUT, amount

    old, *others = models.values()
    parts = {name: cost_parts(_single_tree(model)) for name, model in models.items()}
    if any(part is None for part in parts.values()):
        say("What a case is expected to cost is unknown: the tree has no training weights.")
        return
    rows = [CostRow(name, part.tests, part.errors) for name, part in parts.items() if part is not None]
    kept = others[0] if others else old
    rows.append(
        CostRow(f"no test{', new list' * bool(others)}", 0.0, node_costs(_single_tree(kept))[0].stop_cost or 0.0)
    )
    say(f"Expected cost per case{_unit(kept)}, {BY_PROBABILITIES}:")
    say.table(["", "tests", "errors", "total"], [row.cells() for row in rows])
    if hasattr(old, "expected_cost_"):
        start = "With the old list, a" if others else "A"
        say(f"{start} new case is expected to cost {amount(old.expected_cost_)}, {LEFT_OUT}.")


def _unit(model: Any) -> str:
    """Return " in EUR" if the price list names its currency."""
    from worthwhile.evaluation.metrics import context_of

    currency = context_of(model).costs.currency
    return f" in {currency}" if currency else ""


def _named(old: Any, kept: Any, changed: Any, differ: bool) -> dict[str, Any]:
    """Return the models to compare: one if the lists do not differ; the last one only if its answers differ."""
    import numpy as np

    if not differ:
        return {"the model": old}
    named = {"old list": old, "new list": kept}
    if not np.array_equal(_single_tree(kept).nodes.answer, _single_tree(changed).nodes.answer):
        named["new list, new answers"] = changed
    return named


def _measure(
    models: Mapping[str, Any], changed: Any, source: Any, target: str | None, drop: bool, say: Printer
) -> None:
    """Print what the cases of a file cost, and whether a model learned from them would differ."""
    from worthwhile.cli.reading import true_classes, unknown_values
    from worthwhile.evaluation.metrics import context_of
    from worthwhile.wording import LEFT_OUT, amount

    old = next(iter(models.values()))
    table, target, y = true_classes(old, source, target, drop)
    names = context_of(old).columns
    X, fresh = table.cases(names), _learned_again(old, changed, table, names, y)
    named = {**models, **({} if fresh is None else {"learned again": fresh})}
    rows = []
    for name, model in named.items():
        tests = model.test_costs(X, y=y)
        rows.append(CostRow(name, float(tests.mean()), float((model.total_costs(X, y) - tests).mean())))
    for line in (*source.notes(), *unknown_values(old, table)):
        say(line)
    say(f"Per case{_unit(changed)}, on the {table.n_cases} cases of {source.path}:")
    say.table(["", "tests", "errors", "total"], [row.cells() for row in rows])
    if fresh is None:
        say("A tree from a file has no learner; no new one is learned.")
        return
    expected = fresh._expected_cost()
    if expected is not None:
        low, high = amount(expected.low), amount(expected.high)
        say(f"Learned again, a new case is expected to cost {amount(expected.mean)} ({low} to {high}), {LEFT_OUT}.")
    if (tree := _single_tree(fresh)) is None:
        say(f"A new model is of another kind: {type(fresh.best_estimator_).__name__}.")
    else:
        say(_difference(_single_tree(old), tree))


def _learned_again(old: Any, changed: Any, table: Any, names: Sequence[str], y: Any) -> Any:
    """Return a model that the same learner learns with the new costs; None for a tree."""
    from sklearn.base import clone

    from worthwhile.tree.tree import Tree

    if isinstance(old, Tree):
        return None
    return clone(old).set_params(costs=changed.costs, columns=list(names)).fit(table.matrix(names), y)


def _difference(old: Any, new: Any) -> str:
    """Return in a sentence how the tests of a new tree differ."""
    from worthwhile.wording import enumeration

    if _shape(old) == _shape(new):
        return "A new tree asks for the same tests in the same way."
    before, after = old.tests_used(), new.tests_used()
    more = [name for name in after if name not in before]
    fewer = [name for name in before if name not in after]
    parts = [f"asks for {enumeration(more)}, too"] if more else []
    parts += [f"no longer asks for {enumeration(fewer)}"] if fewer else []
    detail = enumeration(parts) if parts else "asks for the same tests in another order or with other limits"
    return f"A new tree differs: it {detail} ({new.n_leaves} leaves, now {old.n_leaves})."


def _shape(tree: Any) -> list[Any]:
    """Return the questions of a tree, level by level, whatever the numbers of its nodes."""
    from worthwhile.tree.branches import condition

    found, level = [], [0]
    while level:
        children = [tree.nodes.children(node) for node in level]
        found.append(
            [
                [int(tree.nodes.test[node]), *(condition(tree, node, b) for b in range(len(below)))]
                for node, below in zip(level, children, strict=True)
            ]
        )
        level = [child for below in children for child in below]
    return found


def _save(model: Any, out: Path) -> None:
    from worthwhile.files import write_text
    from worthwhile.tree.tree import Tree

    if isinstance(model, Tree):
        write_text(out, model.to_json() + "\n")
    else:
        model.save(out)
