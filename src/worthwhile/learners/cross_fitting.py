"""What a new case is expected to cost, and class probabilities that hold for new cases, by trees on other cases.

The cases that a tree was grown from flatter it: their costs and class shares are too good. So the whole procedure is
repeated on folds. Out of fold, the costs of the cases estimate the cost of a new case. The class probabilities of a
node are shrunk towards those of its parent, by a strength that makes the classes of the held-out cases most likely
(docs/design/expected-cost.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from worthwhile import _core
from worthwhile.learners.deadline import Deadline
from worthwhile.learners.folds import stratified_folds
from worthwhile.learners.training import Training
from worthwhile.tree.case_amounts import surcharges_apply, truth_shares
from worthwhile.tree.cutting import where_it_does_not_pay, where_no_result_matters
from worthwhile.tree.nodes import Nodes
from worthwhile.tree.tree import ExpectedCost, Tree

__all__ = [
    "FoldTree",
    "OutOfFold",
    "Revision",
    "assess",
    "assessed_tree",
    "by_real_cases",
    "can_count",
    "closing_seconds",
    "counting_seconds",
    "expected_cost_of",
    "fold_cases",
    "fold_masks",
    "n_fold_trees",
    "n_used",
    "shrunk_probabilities",
    "with_expected_surcharges",
]

Floats = npt.NDArray[np.float64]

N_FOLDS = 5
# With many cases, one fold says enough: all five are used up to 2,500 cases, one from 10,000 on.
ENOUGH_CASES = 10_000
# Weight of the parent's probabilities, in cases. Small steps hardly change anything.
STRENGTHS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
FEW_COUNTED = 10_000  # cases that show how long it takes to count all
TOLERANCE = 0.1  # seconds by which counting may exceed a time limit
CACHE = 1.5  # times as long as a few cases, each of very many takes
COUNTING = 3e-7  # seconds per case to count all cases at the nodes of a large tree
WEAKER = 4.0  # steps by which shrinkage becomes weaker where tests do not pay by it
SLACK = 1e-6  # of the largest error cost: by which an answer must be better than the others
MIN_PROBABILITY = 1e-6  # a class that a fold never saw must not decide alone
Z = 1.959963984540054  # 95 % of a normal distribution


class FoldTree(NamedTuple):
    """A tree grown from some of the cases, these cases, and cases that it has not seen."""

    core: Any
    kept: Training
    held_out: Training


class Revision(NamedTuple):
    """What is changed in a tree once its probabilities hold for new cases."""

    answers: bool = False  # nodes get the answers of least cost
    pays: bool = False  # the tree asks for no test that does not pay by the figures it shows
    cuts: bool = (
        False  # with `pays`: what does not pay is cut off at once, not only where weaker shrinkage does not help
    )


class OutOfFold(NamedTuple):
    """What the trees of the folds say about new cases."""

    expected_cost: ExpectedCost
    strength: float
    revision: Revision


def fold_cases(training: Training) -> Iterator[tuple[Training, Training]]:
    """Yield kept and held-out cases of each fold.

    The folds do not depend on the order of the cases, and a case of weight 2 counts as two cases.
    """
    training = training.repeated()
    for kept in fold_masks(training):
        yield training.take(np.flatnonzero(kept)), training.take(np.flatnonzero(~kept))


def fold_masks(training: Training) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield, for each fold, which cases are kept; of a large table, only for the first folds."""
    n_folds = min(N_FOLDS, training.n_cases)
    if n_folds > 1:
        folds = stratified_folds(training.classes, n_folds, np.random.default_rng(0))
        yield from (folds != fold for fold in range(n_used(training.n_cases, n_folds)))


def n_used(n_cases: int, n_folds: int = N_FOLDS) -> int:
    """Return how many of the folds are used.

    Examples
    --------
    >>> [n_used(n) for n in (100, 2_500, 4_000, 10_000, 1_000_000)]
    [5, 4, 3, 1, 1]
    """
    return min(n_folds, max(1, math.ceil(ENOUGH_CASES / n_cases)))


def n_fold_trees(n_cases: int) -> int:
    """Return how many trees are grown on folds."""
    return n_used(n_cases, min(N_FOLDS, n_cases)) if n_cases > 1 else 0


def closing_seconds(growing: float, n_cases: int, cross_fit: bool) -> float:
    """Return how long it takes to finish a search: to grow or prune its tree, and trees on folds.

    Parameters
    ----------
    growing : float
        Seconds for a tree.
    n_cases : int
        Cases that trees are grown from.
    cross_fit : bool
        Whether trees are grown on folds.
    """
    return growing * (1 + (n_fold_trees(n_cases) if cross_fit else 0))


def can_count(tree: Tree, training: Training, seconds: float) -> bool:
    """Return whether all cases can be counted at the nodes of a tree in some seconds; a few of them say how long."""
    few = range(0, training.n_cases, max(training.n_cases // FEW_COUNTED, 1))
    if math.isinf(seconds) or len(few) == training.n_cases:
        return True
    some = training.take(np.array(few))
    clock = Deadline(None)
    real_weights(tree._core_tree, some)
    return CACHE * clock.elapsed() / len(few) * training.n_cases <= seconds + TOLERANCE


def counting_seconds(training: Training) -> float:
    """Return how long it takes to count the cases at the nodes of a tree."""
    return COUNTING * training.n_cases


def assess(trees: Iterable[FoldTree], answer: str, revision: Revision) -> OutOfFold | None:
    """Return the expected cost of a new case and the strength of the shrinkage; None without trees.

    The costs are those of the trees after the `revision`.
    """
    least_cost = answer == "least-cost"
    seen: list[FoldTree] = []
    as_grown: list[Floats | None] = []
    losses = np.zeros(len(STRENGTHS))
    for fold in trees:
        core, kept, held_out = fold
        nodes = Nodes.from_core(core)
        counts = real_weights(core, kept)
        probabilities = _shrunk(nodes, counts, np.repeat([STRENGTHS], len(counts), axis=0).T)
        if not revision.answers and (kept.case_errors is None or not least_cost):
            errors = kept.bound_costs.error_costs if least_cost else None
            probabilities = agreeing(probabilities, nodes.answer, core.votes(), errors)
        likely, costs_as_grown = _likelihoods(nodes, probabilities, held_out, least_cost)
        as_grown.append(costs_as_grown)
        losses -= np.log(np.maximum(likely, MIN_PROBABILITY)) @ _sample_weights(held_out)
        seen.append(fold)
    if not seen:
        return None
    # Of equally good strengths, the smallest; differences in the last digits do not count.
    chosen = int(np.flatnonzero(losses <= losses.min() + 1e-9 * abs(losses.min()))[0])
    weights = np.concatenate([_sample_weights(held_out) for _, _, held_out in seen])
    plain = [one for one in as_grown if one is not None]
    if revision.answers or revision.pays or len(plain) < len(seen):
        costs = _costs_out_of_fold(seen, answer, STRENGTHS[chosen], revision)
    else:
        costs = np.concatenate(plain)  # a third of the time of fit on 500 × 8 is saved
    if revision.pays:
        cut = _costs_out_of_fold(seen, answer, STRENGTHS[chosen], revision._replace(cuts=True))
        if _is_clearly_less(cut, costs, weights):
            costs, revision = cut, revision._replace(cuts=True)
    return OutOfFold(expected_cost_of(costs, weights), STRENGTHS[chosen], revision)


def _costs_out_of_fold(folds: Iterable[FoldTree], answer: str, strength: float, revision: Revision) -> Floats:
    """Return what the held-out cases of all folds cost by the trees after the revision."""
    costs = []
    for core, kept, held_out in folds:
        tree = _revised(Tree.from_core(core, kept.context, answer), kept, strength, revision)
        given, prices, _ = _route(tree._core_tree, held_out, answer == "least-cost")
        costs.append(prices + held_out.errors_of(given))
    return np.concatenate(costs)


def _is_clearly_less(costs: Floats, others: Floats, weights: Floats) -> bool:
    """Return whether costs are less than others of the same cases on average, by more than a standard error."""
    mean, low, high = expected_cost_of(others - costs, weights)
    return mean > max(high - mean, mean - low) / Z + 1e-9 * float(np.abs(others).max())


def assessed_tree(tree: Tree, training: Training, found: OutOfFold | None, revision: Revision) -> Tree:
    """Return the tree with the weights of the real cases, and with probabilities and costs that hold for new cases."""
    if found is None:
        return _revised(tree, training, None, revision)
    tree = _revised(tree, training, found.strength, found.revision)
    # On other cases, the procedure might have done tests; what a single answer costs needs no estimate out of fold.
    expected = found.expected_cost if tree.n_nodes > 1 else _cost_of_leaf(tree, training)
    return Tree(tree.nodes, tree.context, tree.answer, expected)


def _cost_of_leaf(tree: Tree, training: Training) -> ExpectedCost:
    """Return what the cases cost if all get the same answer."""
    answers = np.full(training.n_cases, tree.nodes.answer[0])
    return expected_cost_of(training.errors_of(answers), _sample_weights(training))


def by_real_cases(tree: Tree, training: Training, strength: float | None) -> Tree:
    """Return a tree with the weights of the real cases and, with a strength, with shrunk probabilities."""
    return _revised(tree, training, strength, Revision())


def _revised(tree: Tree, training: Training, strength: float | None, revision: Revision) -> Tree:
    """Return the tree by its real cases and, with a strength, by shrunk probabilities.

    Where the tree asks for tests that do not pay by the shrunk probabilities, and not everything is to be cut off that
    does not pay, the shrinkage below becomes weaker step by step; the answers stay. What does not pay even so is cut
    off.
    """
    counts = real_weights(tree._core_tree, training)
    if strength is None:
        return _by_strengths(tree, training, counts, None)
    strengths = np.full(tree.n_nodes, strength)
    if revision.answers:
        costs = _answer_costs(tree, training, counts, strengths, stay=False)
        if costs is None:
            costs = shrunk_probabilities(tree.nodes, counts, strength) @ tree.error_costs
        answers = cheapest(costs, float(np.abs(tree.error_costs).max()))
        tree = Tree(replace(tree.nodes, answer=answers), tree.context, tree.answer)
    if revision.pays and (same := where_no_result_matters(tree)).any():
        tree = Tree(tree.nodes.cut_at(same), tree.context, tree.answer)
        counts, strengths = real_weights(tree._core_tree, training), np.full(tree.n_nodes, strength)
    while True:
        revised = _by_strengths(tree, training, counts, strengths, revision.answers)
        if not revision.pays:
            return revised
        fails = where_it_does_not_pay(revised)
        below = _below(tree.nodes, fails) & (strengths > STRENGTHS[0])
        if revision.cuts or not below.any():
            nodes = revised.nodes.cut_at(fails) if fails.any() else revised.nodes
            return Tree(nodes, revised.context, revised.answer)
        strengths = np.where(below, np.maximum(strengths / WEAKER, STRENGTHS[0]), strengths)


def _below(nodes: Nodes, marked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which nodes are below a marked one."""
    found = np.zeros(len(marked), dtype=bool)
    for node in np.flatnonzero(nodes.n_children):
        if marked[node] or found[node]:
            children = nodes.children(int(node))
            found[children.start : children.stop] = True
    return found


def _by_strengths(
    tree: Tree, training: Training, counts: Floats, strengths: Floats | None, revised: bool = False
) -> Tree:
    """Return the tree by its real cases and, with strengths by node, by probabilities that agree with its answers.

    Revised answers need not agree with the class shares that the tree was grown from.
    """
    grown, probabilities = tree.nodes.weights, None
    # Revised answers are the best until shrinkage is weaker.
    stay = not revised or (strengths is not None and bool(strengths.min() < strengths[0]))
    answer_costs = _answer_costs(tree, training, counts, strengths, stay and tree.answer == "least-cost")
    if strengths is not None:
        probabilities = _shrunk(tree.nodes, counts, strengths[None, :])[0]
        if stay and (answer_costs is None or tree.answer != "least-cost"):
            errors = tree.error_costs if tree.answer == "least-cost" else None
            shares = probabilities if revised else tree._core_tree.votes()
            probabilities = agreeing(probabilities, tree.nodes.answer, shares, errors)
    nodes = replace(
        tree.nodes,
        weights=counts,
        believed=None if np.allclose(counts, grown, rtol=1e-9, atol=1e-9) else grown,
        probabilities=probabilities,
        answer_costs=answer_costs,
    )
    return with_expected_surcharges(Tree(nodes, tree.context, tree.answer), training)


def with_expected_surcharges(tree: Tree, training: Training) -> Tree:
    """Return the tree with what each surcharge adds on average for the cases that reach a node.

    Those by class go by the node's class probabilities.
    """
    context = training.context
    if not context.has_surcharges:
        return tree
    prices = context.bound_costs.prices
    applies = surcharges_apply(context.schema, prices, training.columns)
    weights = _sample_weights(training)
    reached = tree.nodes.weights
    likely = tree._core_tree.shares()
    expected = np.zeros((tree.n_nodes, len(prices.surcharges)))
    truths = truth_shares(prices, context.classes, np.eye(len(context.classes)))
    for s in range(len(prices.surcharges)):
        held = tree._core_tree.recounted(training.table, training.classes, weights * applies[:, s])
        share = np.divide(held, reached, out=np.zeros_like(held), where=reached > 0)  # by class
        own = np.ones(len(context.classes)) if truths is None else truths[:, s]
        expected[:, s] = prices.surcharge_amount[s] * (likely * share * own).sum(axis=1)
    return Tree(replace(tree.nodes, surcharges=expected), context, tree.answer, tree.expected_cost)


def best_answers(probabilities: Floats, error_costs: Floats) -> npt.NDArray[np.int32]:
    """Return the answer of least expected cost for each row of class probabilities; ties go to the first.

    Examples
    --------
    >>> best_answers(np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([[0.0, 1.0], [20.0, 0.0]])).tolist()
    [1, 1]
    """
    return cheapest(probabilities @ error_costs, float(np.abs(error_costs).max()))


def cheapest(costs: Floats, scale: float) -> npt.NDArray[np.int32]:
    """Return the first of the lowest costs of each row, but for a tiny part of `scale`."""
    lowest = costs.min(axis=1, keepdims=True) + 1e-9 * scale
    found: npt.NDArray[np.int32] = (costs <= lowest).argmax(axis=1).astype(np.int32)
    return found


def _answer_costs(
    tree: Tree, training: Training, counts: Floats, strengths: Floats | None, stay: bool
) -> Floats | None:
    """Return what each answer is expected to cost at each node; None if errors cost all cases of a class the same.

    As the probabilities, these means are shrunk towards those of the parent. Where the answers stay, they are mixed
    with the costs of the node's own cases as far as needed for its answer to be the best one.
    """
    if training.case_errors is None:
        return None
    cases = training.table, training.classes, training.sample_weights
    sums = tree._core_tree.answer_costs(*cases, training.bound_costs.as_given.core_errors)
    own = _shrunk_means(tree.nodes, sums, counts.sum(axis=1), np.zeros(tree.n_nodes))
    if strengths is None:
        return own
    shrunk = _shrunk_means(tree.nodes, sums, counts.sum(axis=1), strengths)
    if not stay:
        return shrunk
    at = tree.nodes.answer[:, None]
    behind, reached = (np.take_along_axis(costs, at, axis=1) - costs for costs in (shrunk, own))
    behind = behind + SLACK * float(np.abs(tree.error_costs).max()) * (np.arange(shrunk.shape[1]) != at)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(behind > 0, np.minimum(behind / (behind - np.minimum(reached, 0.0)), 1.0), 0.0)
    return shrunk + needed.max(axis=1, keepdims=True) * (own - shrunk)


def _shrunk_means(nodes: Nodes, sums: Floats, weights: Floats, strengths: Floats) -> Floats:
    """Return means at every node, shrunk towards those of its parent; an empty node has those of its parent."""
    found = np.empty_like(sums)
    found[0] = sums[0] / weights[0] if weights[0] > 0 else 0.0
    for node in range(len(sums)):  # children come after their parents
        for child in nodes.children(node):
            total = weights[child] + strengths[child]
            found[child] = (sums[child] + strengths[child] * found[node]) / total if total > 0 else found[node]
    return found


def agreeing(probabilities: Floats, answers: npt.NDArray[Any], shares: Floats, error_costs: Floats | None) -> Floats:
    """Return the probabilities, changed just as far as needed for the answer of each node to be the best one.

    A small node may answer what it would not by its shrunk probabilities. `predict` must agree with `predict_proba`,
    and advice must not prefer another answer. So the probabilities are mixed with certainty of the class that the node
    answers: where the most probable class is the answer (`error_costs` None), no other class loses more than half of
    its probability. Where certainty does not help, as with an answer that rejects, they are mixed with the class shares
    that the node was grown from.

    Examples
    --------
    >>> agreeing(np.array([[0.6, 0.2, 0.2]]), np.array([1]), np.array([[0.5, 0.5, 0.0]]), None).round(3).tolist()
    [[0.429, 0.429, 0.143]]
    """
    n_classes = probabilities.shape[-1]
    errors = -np.eye(n_classes) if error_costs is None else error_costs
    rejects = answers >= errors.shape[1]  # though the most probable class is the answer: the node was not sure enough
    answers = np.where(rejects, 0, answers)
    slack = SLACK * float(np.abs(errors).max())
    own = answers[:, None]
    certain = np.eye(n_classes, errors.shape[1])[:, answers].T
    others = np.arange(errors.shape[1]) != own
    ahead = np.where(others, _behind(certain, errors, own), -np.inf).max(axis=1) < -slack
    target = np.where((ahead & (answers < n_classes))[:, None], certain, shares)
    behind = _behind(probabilities, errors, own) + slack
    reached = np.minimum(_behind(target, errors, own), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(others & (behind > 0), behind / (behind - reached), 0.0)
    moved = needed.max(axis=-1, keepdims=True)
    found: Floats = probabilities + moved * (target - probabilities)
    return np.where(rejects[:, None], probabilities, found) if rejects.any() else found


def _behind(probabilities: Floats, errors: Floats, own: npt.NDArray[Any]) -> Floats:
    """Return by how much the own answer of each node costs more than every other."""
    costs = probabilities @ errors
    found: Floats = np.take_along_axis(costs, np.broadcast_to(own, (*costs.shape[:-1], 1)), axis=-1) - costs
    return found


def real_weights(core: Any, training: Training) -> Floats:
    """Return the class weights of the real cases at every node: neither soft labels nor weights by error costs."""
    counts: Floats = core.recounted(training.table, training.classes, training.sample_weights)
    return counts


def shrunk_probabilities(nodes: Nodes, weights: Floats, strength: float) -> Floats:
    """Return the class probabilities of every node, shrunk towards those of its parent.

    Examples
    --------
    A leaf with 3 cases of one class below a root with 3 of each.

    >>> import worthwhile as ww
    >>> nodes = ww.DTMCClassifier(cross_fit=False).fit([[0]] * 3 + [[1]] * 3, [0] * 3 + [1] * 3).tree_.nodes
    >>> shrunk_probabilities(nodes, nodes.weights, 3.0).tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.25, 0.75]]
    """
    found: Floats = _shrunk(nodes, weights, np.full((1, len(weights)), strength))[0]
    return found


def _shrunk(nodes: Nodes, weights: Floats, strengths: Floats) -> Floats:
    """Return the class probabilities of every node at several strengths, each by node: (strengths, nodes, classes)."""
    total = weights.sum(axis=1)
    found = np.empty((len(strengths), *weights.shape))
    found[:, 0] = weights[0] / total[0] if total[0] > 0 else 1.0 / weights.shape[1]
    todo = np.array([0])
    while len(todo):  # one level after the other: the children of all its nodes at once
        inner = todo[nodes.n_children[todo] > 0]
        parent = np.repeat(inner, nodes.n_children[inner])
        first = np.repeat(np.cumsum(nodes.n_children[inner]) - nodes.n_children[inner], nodes.n_children[inner])
        child = nodes.first_child[parent] + np.arange(len(parent)) - first
        own = strengths[:, child]
        found[:, child] = (weights[child] + own[:, :, None] * found[:, parent]) / (total[child] + own)[:, :, None]
        todo = child
    return found


def _likelihoods(
    nodes: Nodes, probabilities: Floats, cases: Training, least_cost: bool
) -> tuple[Floats, Floats | None]:
    """Return at each strength the probability of the class of every case, and what the cases cost.

    The costs are None where they depend on the probabilities, since values are missing or surcharges are expected.
    """
    # One walk tells the leaf of every case: the probabilities of a node say its number, and the square of it.
    numbers = np.arange(len(nodes.test), dtype=np.float64)
    marks = np.zeros_like(probabilities[0])
    marks[:, 0] = numbers
    marks[:, -1] = numbers**2
    given, prices, marked = _route(core_with(nodes, marks), cases, least_cost)
    if np.array_equal(marked[:, 0] ** (2 if marks.shape[1] > 1 else 1), marked[:, -1]):
        costs = None if cases.context.has_surcharges else prices + cases.errors_of(given)
        return probabilities[:, marked[:, 0].astype(np.intp), cases.classes], costs
    # Cases with missing values end in several leaves.
    likely = np.empty((len(probabilities), cases.n_cases))
    for at, own in enumerate(probabilities):
        _, _, shares = _route(core_with(nodes, own), cases, least_cost)
        likely[at] = shares[np.arange(cases.n_cases), cases.classes]
    return likely, None


def core_with(nodes: Nodes, probabilities: Floats) -> Any:
    """Return the core's tree with these class probabilities."""
    return replace(nodes, probabilities=probabilities).to_core()


def _route(core: Any, cases: Training, least_cost: bool) -> tuple[Any, Any, Any]:
    costs = cases.bound_costs
    answers, prices, shares, _ = _core.route(
        core,
        cases.table,
        costs.core_pricing,
        costs.core_errors,
        least_cost=least_cost,
        answers=True,
        prices=True,
        shares=True,
    )
    return answers, prices, shares


def _sample_weights(cases: Training) -> Floats:
    return np.ones(cases.n_cases) if cases.sample_weights is None else cases.sample_weights


def expected_cost_of(costs: Floats, weights: Floats | None = None) -> ExpectedCost:
    """Return the mean of the costs of cases with its 95 % interval.

    Examples
    --------
    >>> [round(figure, 3) for figure in expected_cost_of(np.array([1.0, 2.0, 3.0, 2.0]))]
    [2.0, 1.2, 2.8]
    """
    weights = np.ones(len(costs)) if weights is None else weights
    shares = weights / weights.sum()  # squares of large weights would overflow
    mean = float(shares @ costs)
    n = 1 / float(shares @ shares)  # as many cases of equal weight would say as much
    variance = float(shares @ (costs - mean) ** 2) * n / max(n - 1, 1)
    half = Z * math.sqrt(variance / n)
    # No mean is outside the costs themselves: where hardly any case costs anything, the low end would be below 0.
    low, high = max(mean - half, float(costs.min())), min(mean + half, float(costs.max()))
    return ExpectedCost(mean, min(low, mean), max(high, mean))  # equal costs may differ from their mean by rounding


def expected_cost_of_sums(weight: float, cost: float, square: float, weights: float) -> ExpectedCost:
    """Return the mean with its 95 % interval from sums over cases.

    Parameters
    ----------
    weight, cost, square, weights : float
        Sums of the weight, of the weight times the cost, of the weight times the square of the cost, and of the square
        of the weight.

    Examples
    --------
    >>> [round(figure, 3) for figure in expected_cost_of_sums(4, 8, 18, 4)]
    [2.0, 1.2, 2.8]
    """
    mean, n = cost / weight, weight**2 / weights
    variance = max(square / weight - mean**2, 0.0) * n / max(n - 1, 1)
    half = Z * math.sqrt(variance / n)
    return ExpectedCost(mean, min(max(mean - half, 0.0), mean), mean + half)
