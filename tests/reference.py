"""A slow, plain second implementation of docs/design/: the oracle that the compiled core is compared with.

Written from the page and the papers it cites, never from the core, and in the order of the page: prices, answers,
candidates, scores, growing, pruning, look-ahead. It takes the shortest road from a sentence to a line of code: nothing
is shared between nodes, nothing is sorted once, nothing is cached.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

SLACK = 1e-9  # absolute, of every comparison of weights
TIE = 1e-9  # relative, of every comparison of scores and costs
LEAST_GAIN = 1e-10  # bits: what a candidate must exceed, and what a later cut must add

CRITERIA = ("gain-ratio", "gain", "icf", "gain-per-price", "gain-squared-per-price", "cost-drop")
PRUNINGS = ("pessimistic", "cost", "none")
ANSWERS = ("majority", "least-cost")
SAMPLES = ("grown", "pruned")

# Quinlan's table of normal deviations for one-sided confidence levels.
LEVELS_OF_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)


@dataclass
class Surcharge:
    """An amount on top of the price of a test where all conditions hold.

    A condition is (">", 3.0) or another comparison, or ("in", values); of a nominal column, values are codes.
    """

    test: int
    amount: float
    truth: int | None = None
    result: tuple | None = None
    where: dict[int, tuple] = field(default_factory=dict)
    after: list[int] = field(default_factory=list)
    after_any: list[int] = field(default_factory=list)


@dataclass
class Problem:
    """Everything a learner gets. What is left out: weights 1, prices 0, no groups, 0/1 errors, no hierarchies."""

    columns: list[np.ndarray]  # numeric: float64, NaN = missing; nominal: int codes, -1 = missing
    n_values: list[int]  # 0 = numeric, V = nominal with codes 0..V-1
    y: np.ndarray
    k: int
    weights: np.ndarray | None = None
    marginal: list[float] | None = None
    group: list[int] | None = None  # -1 = none
    common: list[float] = field(default_factory=list)
    delayed: list[bool] | None = None
    requires: list[list[int]] | None = None  # direct requirements
    errors: np.ndarray | None = None  # (k, n_answers): errors[truth][answer]
    levels: dict[int, list[list[int]]] = field(default_factory=dict)  # column -> per further level: code -> branch
    more_groups: list[list[int]] | None = None  # by test: groups besides `group`
    surcharges: list[Surcharge] = field(default_factory=list)  # by rising test
    wait: list[float] | None = None
    waiting: list[tuple[float, float]] = field(default_factory=list)  # points (time, price) from (0, 0) on
    cap: float = math.inf
    case_prices: np.ndarray | None = None  # (cases, tests): in place of `marginal`
    case_errors: np.ndarray | None = None  # (cases, answers): in place of `errors`, while learning

    def __post_init__(self):
        n_columns = len(self.columns)
        self.columns = [
            np.array(column, dtype=np.int64 if n_values else np.float64)
            for column, n_values in zip(self.columns, self.n_values, strict=True)
        ]
        self.y = np.array(self.y, dtype=np.int64)
        self.weights = np.ones(len(self.y)) if self.weights is None else np.array(self.weights, dtype=np.float64)
        self.marginal = [0.0] * n_columns if self.marginal is None else [float(price) for price in self.marginal]
        self.group = [-1] * n_columns if self.group is None else [int(group) for group in self.group]
        self.delayed = [False] * n_columns if self.delayed is None else [bool(delayed) for delayed in self.delayed]
        self.requires = [[] for _ in range(n_columns)] if self.requires is None else self.requires
        self.errors = 1.0 - np.eye(self.k) if self.errors is None else np.array(self.errors, dtype=np.float64)
        self.more_groups = [[] for _ in range(n_columns)] if self.more_groups is None else self.more_groups
        self.wait = [0.0] * n_columns if self.wait is None else [float(wait) for wait in self.wait]
        # A condition on another test needs its result: the test requires it.
        self.requires = [
            sorted({*own, *(u for s in self.surcharges if s.test == t for u in s.where)})
            for t, own in enumerate(self.requires)
        ]

    def case(self, row):
        """The values of one training case, a list with one per column."""
        return [column[row] for column in self.columns]


@dataclass
class LookAhead:
    """How splits are chosen by sampled trees. All samples are greedy here: one per branch, or r cuts of numbers."""

    r: int = 1
    by_size: bool = False
    samples: str = "grown"
    confidence: float = 0.25
    margin: float = 0.0


@dataclass
class Policy:
    """How a learner grows, prunes and answers."""

    criterion: str = "gain-ratio"
    omega: float = 1.0
    min_cases: float = 2.0
    min_share: float = 0.1
    max_depth: int | None = None
    mdl_correction: bool = False
    context: bool = False
    idx_depth: int = 1
    answer: str = "majority"
    prune: str = "pessimistic"
    raise_subtrees: bool = True
    confidence: float = 0.25
    biases: list[float] | None = None  # by column: in place of the list prices; infinite = never asked
    reject_below: float = 0.0  # majority answers: a node whose majority has a smaller share rejects
    ahead: LookAhead | None = None
    nominal_splits: str = "multiway"

    def __post_init__(self):
        for name, valid in (("criterion", CRITERIA), ("prune", PRUNINGS), ("answer", ANSWERS)):
            if getattr(self, name) not in valid:
                raise ValueError(f"{name}={getattr(self, name)!r} is none of {', '.join(valid)}")
        if self.idx_depth > 1 and self.criterion != "gain-per-price":
            raise ValueError(f"idx_depth={self.idx_depth} is defined for gain-per-price only, not {self.criterion}")
        if self.min_cases <= 0:
            raise ValueError(f"min_cases={self.min_cases} is not above 0")


@dataclass
class Node:
    """A node of a tree; a leaf has no children. Numeric: child 0 holds v <= threshold, child 1 the rest."""

    weights: np.ndarray
    answer: int = 0
    children: list[Node] = field(default_factory=list)
    column: int | None = None
    threshold: float | None = None
    branch_of: list[int] | None = None  # nominal: code -> branch
    commits: bool = False  # ordering the test orders everything below, too
    surcharges: list[float] | None = None  # what each surcharge is expected to add here; None: its amount

    @property
    def weight(self):
        return float(np.sum(self.weights))


@dataclass
class Cases:
    """The cases at a node: rows of the problem and the weight that each has here."""

    rows: np.ndarray
    weights: np.ndarray


# -- what a test costs ------------------------------------------------------------------------------------------------


def closure(problem, test):
    """The test and everything it requires, transitively."""
    found, waiting = set(), [test]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(problem.requires[current])
    return found


# What a case is charged for is a set of items: a test (its number), ("surcharge", s), and ("wait", t), the time waited
# for test t.


def tests_of(items):
    """The tests among some items."""
    return {item for item in items if not isinstance(item, tuple)}


def order(problem, tests, before):
    """The items of a case that was charged for `before` and orders some tests together."""
    new = set().union(*(closure(problem, t) for t in tests)) - set(before)
    items = set(before) | new
    for s, surcharge in enumerate(problem.surcharges):
        done = set(before) | closure(problem, surcharge.test)
        one_of = not surcharge.after_any or set(surcharge.after_any) & done
        if surcharge.test in new and set(surcharge.after) <= done and one_of:
            items.add(("surcharge", s))
    slow = [t for t in sorted(new) if problem.waiting and problem.wait[t] > 0]
    if slow:
        items.add(("wait", max(slow, key=lambda t: problem.wait[t])))  # the first of equals
    return items


def waiting_price(problem, time):
    """What it costs to wait for so long in all; the curve goes on with its last slope."""
    if not problem.waiting:
        return 0.0
    pieces = list(pairwise(problem.waiting))
    before, after = next((piece for piece in pieces if time <= piece[1][0]), pieces[-1])
    return before[1] + (time - before[0]) * (after[1] - before[1]) / (after[0] - before[0])


def time_waited(problem, items):
    return sum(problem.wait[item[1]] for item in sorted(items - tests_of(items)) if item[0] == "wait")


def groups_of(problem, tests):
    """The groups of some tests."""
    return {g for t in tests for g in (problem.group[t], *problem.more_groups[t])} - {-1}


def meets(condition, value, n_values):
    """Whether a value meets a condition; a missing one, and a code that the column does not have, meet none."""
    operator, bound = condition
    if (not 0 <= value < n_values) if n_values else math.isnan(value):
        return False
    return {
        "<": lambda: value < bound,
        "<=": lambda: value <= bound,
        ">": lambda: value > bound,
        ">=": lambda: value >= bound,
        "in": lambda: any(value == own for own in bound),
    }[operator]()


def listed_amounts(problem):
    """The price of every test, then the amount of every surcharge, whatever the case."""
    return [*problem.marginal, *(s.amount for s in problem.surcharges)]


def case_amounts(problem, case_values, truth=None, own_prices=None):
    """The same for one case: surcharges whose conditions do not hold add nothing. No truth: any class."""
    amounts = list(problem.marginal if own_prices is None else own_prices)
    for s in problem.surcharges:
        conditions = {**s.where, **({} if s.result is None else {s.test: s.result})}
        holds = all(meets(c, case_values[t], problem.n_values[t]) for t, c in conditions.items())
        is_truth = s.truth is None or truth is None or s.truth == truth
        amounts.append(s.amount if holds and is_truth else 0.0)
    return amounts


def amounts_of_row(problem, row):
    """The amounts of a training case."""
    own = None if problem.case_prices is None else problem.case_prices[row]
    return case_amounts(problem, problem.case(row), problem.y[row], own)


def depends_on_case(problem):
    return problem.case_prices is not None or bool(problem.surcharges)


def price_of_more(problem, charged, paid, amounts=None):
    """What the items `charged` cost somebody who has paid for `paid`."""
    amounts = listed_amounts(problem) if amounts is None else amounts
    charged, paid = set(charged), set(paid)
    new = charged - paid
    opened = groups_of(problem, tests_of(new)) - groups_of(problem, tests_of(paid))
    total = sum(amounts[t] for t in sorted(tests_of(new))) + sum(problem.common[g] for g in sorted(opened))
    total += sum(amounts[len(problem.marginal) + s] for kind, s in sorted(new - tests_of(new)) if kind == "surcharge")
    more = waiting_price(problem, time_waited(problem, charged | paid))
    return total + more - waiting_price(problem, time_waited(problem, paid))


def price(problem, charged, amounts=None):
    """The price of a set of items: marginals and surcharges once, group commons once, and the time waited."""
    return price_of_more(problem, charged, set(), amounts)


def most(problem, charged, own_prices=None):
    """The most that a set of items can cost, whatever the class and the values of a case with these prices of tests."""
    surcharges = [problem.surcharges[item[1]] for item in charged - tests_of(charged) if item[0] == "surcharge"]
    without = {item for item in charged if item in tests_of(charged) or item[0] == "wait"}
    worst = max(
        sum(max(s.amount, 0.0) for s in surcharges if s.truth in (None, truth))
        for truth in range(max([problem.k, *(s.truth + 1 for s in surcharges if s.truth is not None)]))
    )
    amounts = listed_amounts(problem) if own_prices is None else [*own_prices, *[0.0] * len(problem.surcharges)]
    return price(problem, without, amounts) + worst


def within_cap(problem, charged, own_prices=None):
    return problem.cap == math.inf or most(problem, charged, own_prices) <= problem.cap * (1 + 1e-12)


def price_in_context(problem, test, paid=frozenset(), amounts=None):
    """price(test | paid)."""
    return 0.0 if test in paid else price_of_more(problem, order(problem, [test], paid), paid, amounts)


def branch_taken(node, case_values):
    """The branch that a case takes at an inner node, None where its value is missing or was never seen."""
    value = case_values[node.column]
    if node.branch_of is None:
        return None if math.isnan(value) else int(value > node.threshold)
    if not 0 <= value < len(node.branch_of) or node.branch_of[value] < 0:
        return None
    return node.branch_of[value]


def branch_shares(node):
    """In what proportion a case without a value goes down the branches of a node."""
    weights = [child.weight for child in node.children]
    if sum(weights) == 0:
        return [1 / len(weights)] * len(weights)
    return [weight / sum(weights) for weight in weights]


def inner_nodes(node):
    """The nodes of a subtree that test something."""
    return [node] + [inner for child in node.children for inner in inner_nodes(child)] if node.children else []


def leaves(node):
    """The leaves of a subtree, from the first branch to the last."""
    return [leaf for child in node.children for leaf in leaves(child)] if node.children else [node]


def commits(problem, node, paid):
    """Whether an order at this node is for everything below it, too."""
    return node.commits or any(problem.delayed[t] for t in closure(problem, node.column) - set(paid))


def charged_after(problem, node, case_values, paid):
    """What a case whose value is known has been charged for once this very node has ordered its test."""
    if node.column in paid:
        return set(paid)
    tests = {node.column}
    if commits(problem, node, paid):
        tests |= {below.column for below in inner_nodes(node) if branch_taken(below, case_values) is not None}
    return order(problem, tests, paid)


def charged_tests(problem, node, case_values, paid=frozenset(), own_prices=None):
    """The items that the subtree charges a case for that has paid for `paid` on its way there."""
    if not node.children:
        return set()
    branch = branch_taken(node, case_values)
    if branch is None:
        visited = [child for child, share in zip(node.children, branch_shares(node), strict=True) if share > 0]
        return set().union(*(charged_tests(problem, child, case_values, paid, own_prices) for child in visited))
    charged = charged_after(problem, node, case_values, paid)
    if not within_cap(problem, charged, own_prices):
        return set()
    return (charged - paid) | charged_tests(problem, node.children[branch], case_values, charged, own_prices)


# -- what a tree answers ----------------------------------------------------------------------------------------------


def largest_error(problem):
    """The largest |M|: the scale of ties between costs, which may cancel out where errors bring benefits."""
    return float(np.abs(problem.errors).max())


class ClassWeights(np.ndarray):
    """Class weights that know what every answer costs their cases: (cases that it is wrong, right for; answers)."""

    own_errors = None


def costs_of_answers(problem, weights):
    """What every answer costs cases of these class weights in errors: their own costs, if they have some."""
    own = getattr(weights, "own_errors", None)
    return np.asarray(weights, dtype=np.float64) @ problem.errors if own is None else own.sum(axis=0)


def choose_answer(problem, policy, weights):
    """The answer to cases with these class weights; the lowest index wins ties."""
    costs = costs_of_answers(problem, weights)
    weights = np.asarray(weights, dtype=np.float64)
    best = 0
    if policy.answer == "majority":
        for c in range(1, problem.k):
            if weights[c] > weights[best] + TIE * weights.sum():
                best = c
        return best
    tie = TIE * weights.sum() * largest_error(problem)
    for a in range(1, problem.errors.shape[1]):
        if costs[a] < costs[best] - tie:
            best = a
    return best


def answer_or_reject(problem, policy, weights):
    """The answer of a node: the cheapest reject answer if its majority is not sure enough (Turney, section 5.2)."""
    answer = choose_answer(problem, policy, weights)
    share = weights[answer] / np.sum(weights) if answer < problem.k else 1.0
    rejects = range(problem.k, problem.errors.shape[1])
    if policy.answer != "majority" or not rejects or share >= policy.reject_below - TIE:
        return answer
    costs = costs_of_answers(problem, weights)
    tie = TIE * np.sum(weights) * largest_error(problem)
    best = rejects[0]
    for a in rejects:
        if costs[a] < costs[best] - tie:
            best = a
    return best


def set_answers(problem, policy, node, inherited=0):
    """Give every node its answer; a node of weight 0 has its parent's."""
    node.answer = answer_or_reject(problem, policy, node.weights) if node.weight > 0 else inherited
    for child in node.children:
        set_answers(problem, policy, child, node.answer)


def shares_below(problem, node, inherited=None):
    """The class shares of every node of a subtree, by identity; a node of weight 0 has its parent's."""
    shares = np.asarray(node.weights) / node.weight if node.weight > 0 else inherited
    found = {id(node): shares}
    if shares is None:  # a tree written by hand without weights: all on its answer
        found[id(node)] = (
            np.eye(problem.k)[node.answer] if node.answer < problem.k else np.full(problem.k, 1 / problem.k)
        )
    for child in node.children:
        found |= shares_below(problem, child, shares)
    return found


# -- the path of a case, also where tests are unavailable -------------------------------------------------------------


@dataclass
class Walk:
    """Where a case stands, in which order its parts are followed, what it has seen and what it is charged."""

    problem: Problem
    policy: Policy
    root: Node
    case_values: list
    charged: set
    may_stop: bool = True
    own_prices: list | None = None  # of the tests, where they depend on the case: a cap holds for these
    seen: set = field(default_factory=set)

    def __post_init__(self):
        self.shares = shares_below(self.problem, self.root)
        self.parts = [(1.0, self.root)]
        self.may_stop = self.may_stop and self.root.weight > 0
        while True:
            self.advance()
            test = self.test_that_pays()
            if test is None:
                break
            self.seen.add(test)

    def advance(self):
        """Follow the parts in turn as far as no decision is needed, again and again until none moves."""
        moved = True
        while moved:
            moved, i = False, 0
            while i < len(self.parts):
                node = self.parts[i][1]
                free = node.children and (node.column in self.seen or self.asks_freely(node.column))
                if not free or not self.affordable(node.column):
                    i += 1
                else:
                    self.seen.add(node.column)
                    self.move(i)
                    moved = True

    def asks_freely(self, test):
        if not self.may_stop or len(self.parts) == 1:
            return True
        ordered = self.order(test, self.parts, self.charged, self.seen)
        return self.expected_price(ordered, self.charged, test, self.parts) <= 0

    def affordable(self, test):
        """Whether the case stays within the cap if it orders a test, whatever its class."""
        if self.problem.cap == math.inf:
            return True
        everything = set(range(len(self.case_values)))
        return within_cap(self.problem, self.order(test, self.parts, self.charged, everything), self.own_prices)

    def expected_price(self, ordered, paid, test, parts):
        """What an order is expected to cost the parts at a test: by the price list, with the surcharges to expect."""
        here = [(share, node) for share, node in parts if node.children and node.column == test]
        amounts = listed_amounts(self.problem)
        if self.root.surcharges is not None:
            total = sum(share for share, _ in here)
            for s in range(len(self.problem.surcharges)):
                expected = sum(share * node.surcharges[s] for share, node in here)
                amounts[len(self.problem.marginal) + s] = expected / total
        return price_of_more(self.problem, ordered, paid, amounts)

    def move(self, i):
        share, node = self.parts[i]
        branch = branch_taken(node, self.case_values)
        if branch is not None:
            everything = set(range(len(self.case_values)))
            self.charged = self.order(node.column, self.parts, self.charged, everything)
            self.parts[i] = (share, node.children[branch])
            return
        branches = [(part, child) for part, child in zip(branch_shares(node), node.children, strict=True) if part > 0]
        branches.sort(key=lambda pair: -math.floor(pair[0] * 1e9 + 0.5))
        self.parts[i : i + 1] = [(share * part, child) for part, child in branches]

    def order(self, test, parts, charged, met):
        """What is charged once the parts that stand at a test have ordered it, if the tests `met` are known."""
        if test in charged:
            return set(charged)
        tests = set()
        for _, node in parts:
            if not node.children or node.column != test or self.lacks(node, met):
                continue
            tests.add(test)
            for below in inner_nodes(node) if commits(self.problem, node, charged) else []:
                if not self.lacks(below, met):
                    tests.add(below.column)
        return order(self.problem, tests, charged)

    def lacks(self, node, met):
        return node.column in met and branch_taken(node, self.case_values) is None

    def mixture(self, parts):
        return sum(share * self.shares[id(node)] for share, node in parts)

    def cost(self, mixture):
        return float(mixture @ self.problem.errors[:, choose_answer(self.problem, self.policy, mixture)])

    def test_that_pays(self):
        """The first test that lowers the expected cost of a divided case; None if there is none."""
        if not self.may_stop or len(self.parts) == 1:
            return None
        stop = self.cost(self.mixture(self.parts))
        for test in dict.fromkeys(node.column for _, node in self.parts if node.children):
            if self.affordable(test) and self.cost_of_test(test) < stop - TIE * largest_error(self.problem):
                return test
        return None

    def cost_of_test(self, test):
        """What it costs if all parts at a test do it, the first goes on as long as that pays, and the others stay."""
        group = [part for part in self.parts if part[1].children and part[1].column == test]
        rest = [part for part in self.parts if not part[1].children or part[1].column != test]
        ordered = self.order(test, self.parts, self.charged, self.seen)
        results = joint_results([node for _, node in group])
        while not results:
            rest.append(group.pop())
            results = joint_results([node for _, node in group])
        cost = self.expected_price(ordered, self.charged, test, self.parts)
        for chance, branches in results:
            moved = [(share, node.children[b]) for (share, node), b in zip(group, branches, strict=True)]
            others = self.mixture([*rest, *moved[1:], (0.0, self.root)])
            cost += chance * self.cost_of_part(*moved[0], others, ordered)
        return cost

    def cost_of_part(self, share, node, others, charged):
        stop = self.cost(others + share * self.shares[id(node)])
        if not node.children:
            return stop
        if node.column in self.seen:
            branch = branch_taken(node, self.case_values)
            return stop if branch is None else self.cost_of_part(share, node.children[branch], others, charged)
        ordered = self.order(node.column, [(share, node)], charged, self.seen)
        if not within_cap(self.problem, ordered, self.own_prices):
            return stop
        on = self.expected_price(ordered, charged, node.column, [(share, node)])
        for part, child in zip(branch_shares(node), node.children, strict=True):
            if part > 0:
                on += part * self.cost_of_part(share, child, others, ordered)
        return min(stop, on)


def joint_results(nodes):
    """The results that a test can have for nodes that all ask for it: (chance, the branch at each node)."""
    if len(nodes) == 1:
        return [(share, (b,)) for b, share in enumerate(branch_shares(nodes[0])) if share > 0]
    if nodes[0].branch_of is None:
        cuts = sorted({node.threshold for node in nodes})
        values = [cuts[0], *(np.nextafter(cut, math.inf) for cut in cuts)]
        results = {tuple(int(value > node.threshold) for node in nodes) for value in values}
    else:
        codes = range(max(len(node.branch_of) for node in nodes))
        results = {tuple(n.branch_of[code] if code < len(n.branch_of) else -1 for n in nodes) for code in codes}
    chances = {
        branches: math.prod(branch_shares(node)[b] if b >= 0 else 0 for node, b in zip(nodes, branches, strict=True))
        for branches in results
    }
    total = sum(chances.values())
    return [(chance / total, branches) for branches, chance in sorted(chances.items()) if chance > 0]


def walk(problem, policy, root, case_values, paid=frozenset(), may_stop=True, own_prices=None):
    """The path of a case that has paid for `paid`; without `may_stop` it does all tests that the tree asks for."""
    return Walk(problem, policy, root, case_values, set(paid), may_stop, own_prices)


def classify(problem, policy, node, case_values, may_stop=True):
    """The answer to a case and its class shares."""
    return answer_at(problem, policy, walk(problem, policy, node, case_values, may_stop=may_stop))


def answer_at(problem, policy, end):
    """The answer where a walk ends, and the class shares."""
    mixture = end.mixture(end.parts)
    if len(end.parts) == 1:
        return end.parts[0][1].answer, mixture
    return choose_answer(problem, policy, mixture), mixture


# -- candidates -------------------------------------------------------------------------------------------------------


def entropy(weights):
    """Entropy in bits of the shares of these weights."""
    total = float(sum(weights))
    return -sum(w / total * math.log2(w / total) for w in map(float, weights) if w > 0) if total > 0 else 0.0


def class_weights(problem, cases):
    """The class weights of some cases."""
    found = np.bincount(problem.y[cases.rows], weights=cases.weights, minlength=problem.k).view(ClassWeights)
    if problem.case_errors is not None:
        found.own_errors = np.zeros((2, problem.errors.shape[1]))
        for row, weight in zip(cases.rows, cases.weights, strict=True):
            for answer, cost in enumerate(problem.case_errors[row]):
                found.own_errors[int(answer == problem.y[row]), answer] += weight * cost
    return found


def branch_table(problem, cases, branch, n_branches):
    """Class weights of the known cases, one row per branch; branch -1 = missing."""
    table = np.zeros((n_branches, problem.k))
    for row, weight, b in zip(cases.rows, cases.weights, branch, strict=True):
        if b >= 0:
            table[b, problem.y[row]] += weight
    return table


def gain(table, total):
    """Information gained, in bits: table as from branch_table, total = weight of the node with its missing cases."""
    known = float(table.sum())
    if known == 0:
        return 0.0
    return known / total * (entropy(table.sum(axis=0)) - sum(row.sum() / known * entropy(row) for row in table))


def split_info(table, total):
    """Entropy in bits of the shares of the branches and of the missing cases."""
    return entropy([*table.sum(axis=1), max(0.0, total - float(table.sum()))])


def error_cost(problem, policy, weights):
    """L: what the answer to cases of these class weights costs in errors."""
    return float(costs_of_answers(problem, weights)[choose_answer(problem, policy, weights)])


def cost_drop(problem, policy, cases, branch, n_branches, test_price):
    """DTMC's score, what it must exceed to count, and how far a later cut must exceed an earlier one."""

    def cost(chosen):
        return error_cost(problem, policy, class_weights(problem, Cases(cases.rows[chosen], cases.weights[chosen])))

    before, after = cost(branch >= 0), sum(cost(branch == b) for b in range(n_branches))
    total, known = float(cases.weights.sum()), float(cases.weights[branch >= 0].sum())
    prices = test_price * known
    size = largest_error(problem) * known
    return (before - after - prices) / total, TIE * (size + prices) / total, TIE * size / total


@dataclass
class Candidate:
    """A possible split of a node."""

    column: int
    branch: np.ndarray  # per case of the node: the branch it takes, -1 = missing
    n_branches: int
    price: float
    gain: float
    split_info: float
    drop: float = 0.0
    least_drop: float = 0.0
    drop_tie: float = 0.0
    threshold: float | None = None
    branch_of: list[int] | None = None
    bits: float = 0.0  # nominal: the length of a description


def make_candidate(problem, policy, cases, column, branch, n_branches, test_price):
    table = branch_table(problem, cases, branch, n_branches)
    total = float(cases.weights.sum())
    candidate = Candidate(column, branch, n_branches, test_price, gain(table, total), split_info(table, total))
    if policy.criterion == "cost-drop":
        drops = cost_drop(problem, policy, cases, branch, n_branches, test_price)
        candidate.drop, candidate.least_drop, candidate.drop_tie = drops
    return candidate, table


def nominal_candidates(problem, policy, cases, column, test_price):
    """The ungrouped test, some values against the rest or the better of the two; one per level of generalisation."""
    subsets = best_subsets(problem, policy, cases, column, test_price, 1)
    whole = multiway_candidates(problem, policy, cases, column, test_price)
    by_level = whole[1:] if whole and whole[0].branch_of == list(range(problem.n_values[column])) else whole
    ungrouped = whole[: len(whole) - len(by_level)]
    if policy.nominal_splits == "subset" and problem.n_values[column] > 2:
        ungrouped = subsets
    if policy.nominal_splits == "both":
        if policy.criterion == "cost-drop":  # what does not pay for itself is no rival
            ungrouped, subsets = ([c for c in some if c.drop > c.least_drop] for some in (ungrouped, subsets))
        if subsets and (not ungrouped or shorter(subsets[0].bits, ungrouped[0].bits)):
            ungrouped = subsets
    return ungrouped + by_level


def multiway_candidates(problem, policy, cases, column, test_price):
    """The ungrouped test and one per level of generalisation."""
    values = problem.columns[column][cases.rows]
    found = []
    for branch_of in [list(range(problem.n_values[column])), *problem.levels.get(column, [])]:
        branch = np.array([branch_of[v] if v >= 0 else -1 for v in values], dtype=np.int64)
        candidate, table = make_candidate(problem, policy, cases, column, branch, max(branch_of) + 1, test_price)
        candidate.branch_of = list(branch_of)
        candidate.bits = description_bits(table, 0)
        if np.sum(table.sum(axis=1) >= policy.min_cases - SLACK) >= 2:
            found.append(candidate)
    return found


def shorter(bits, others):
    return bits < others - TIE * (1 + others)


def description_bits(table, choice_bits):
    """What it takes to tell the classes of cases that are divided like this, and the class shares of every branch."""
    total, filled = float(table.sum()), [row for row in table if row.sum() > SLACK]
    n_shares = len(filled) * (sum(table.sum(axis=0) > SLACK) - 1)
    classes = sum(row.sum() * entropy(row) for row in filled)
    return choice_bits + classes + n_shares / 2 * math.log2(max(total, 1.0))


def rankings(table, keys):
    """The values that occur in order by the mean of each key (a number per class) over their cases."""
    present = [v for v, row in enumerate(table) if row.sum() > SLACK]
    return [sorted(present, key=lambda v: float(table[v] @ key) / float(table[v].sum())) for key in keys]


def share_keys(table):
    """One key per class: its share. Of many classes the most frequent ones; two classes have the same rankings."""
    total = table.sum(axis=0)
    classes = sorted((c for c in range(len(total)) if total[c] > SLACK), key=lambda c: -total[c])
    return np.eye(len(total))[classes[:1] if len(classes) == 2 else classes[:8]]


def divisions(table, keys):
    """The ways to divide values into two: lists of the values on one side, in the order in which they are tried."""
    present = [v for v, row in enumerate(table) if row.sum() > SLACK]
    n = len(present)
    if n > 5:
        cut = [ranked[:size] for ranked in rankings(table, keys) for size in range(1, n)]
        return cut + [[v] for v in present]
    masks = sorted(range(1, 2**n - 1), key=lambda mask: (mask.bit_count(), mask))
    halves = [m for m in masks if 2 * m.bit_count() < n or (2 * m.bit_count() == n and m & 1)]
    return [[v for i, v in enumerate(present) if mask >> i & 1] for mask in halves]


def sides_of(table, left):
    """Value -> branch: the first value that occurs is in branch 0; values that do not occur go where most cases go."""
    present = [v for v, row in enumerate(table) if row.sum() > SLACK]
    side = {v: int((v in left) != (present[0] in left)) for v in present}
    heavier = sum(float(table[v].sum()) * (1 if side[v] else -1) for v in present) > SLACK
    return [side.get(v, int(heavier)) for v in range(len(table))]


def best_subsets(problem, policy, cases, column, test_price, most):
    """The best ways to divide the values of a nominal column into two, best first, the first of equals."""
    if policy.nominal_splits == "multiway" or problem.n_values[column] < 3:
        return []
    values = problem.columns[column][cases.rows]
    table = branch_table(problem, cases, values, problem.n_values[column])
    n_present, by_drop = int(np.sum(table.sum(axis=1) > SLACK)), policy.criterion == "cost-drop"
    keys = share_keys(table)
    if by_drop and policy.answer == "least-cost":
        usual = choose_answer(problem, policy, table.sum(axis=0))
        keys = np.delete(problem.errors.T - problem.errors[:, usual], usual, axis=0)
    ranked = []
    for left in divisions(table, keys):
        branch_of = sides_of(table, left)
        branch = np.array([branch_of[v] if v >= 0 else -1 for v in values], dtype=np.int64)
        new, sides = make_candidate(problem, policy, cases, column, branch, 2, test_price)
        new.branch_of, new.bits = branch_of, description_bits(sides, n_present - 1)
        if np.any(sides.sum(axis=1) < policy.min_cases - SLACK) or any(c.branch_of == branch_of for c in ranked):
            continue
        place = len(ranked)
        while place > 0 and (
            new.drop > ranked[place - 1].drop + new.drop_tie
            if by_drop
            else new.gain > ranked[place - 1].gain + LEAST_GAIN
        ):
            place -= 1
        ranked.insert(place, new)
    for candidate in ranked:
        candidate.gain -= (n_present - 1) / float(cases.weights.sum())
    return ranked[:most]


def stored_threshold(problem, column, low, high):
    """The largest value of the whole column that does not exceed the middle of two neighbouring values."""
    middle = (low + high) / 2 if math.isfinite(low + high) else low / 2 + high / 2
    # The middle of two adjacent floats can round up to the higher one, which belongs to the other side.
    return max(float(v) for v in problem.columns[column] if v <= middle and v < high)


def cuts(problem, policy, cases, column, test_price):
    """All admissible cuts of a numeric column, from the lowest to the highest."""
    values = problem.columns[column][cases.rows]
    known = ~np.isnan(values)
    least = max(policy.min_cases, min(25.0, policy.min_share * float(cases.weights[known].sum()) / problem.k))
    distinct = [float(v) for v in np.unique(values[known])]
    found = []
    for low, high in pairwise(distinct):
        branch = np.where(known, (values >= high).astype(np.int64), -1)
        candidate, table = make_candidate(problem, policy, cases, column, branch, 2, test_price)
        if np.all(table.sum(axis=1) >= least - SLACK):
            candidate.threshold = stored_threshold(problem, column, low, high)
            found.append(candidate)
    return found


def numeric_candidates(problem, policy, cases, column, test_price):
    """The best cut of a numeric column, in a list; an empty list if there is none."""
    best, tries = None, 0
    for candidate in cuts(problem, policy, cases, column, test_price):
        tries += 1
        if best is None:
            best = candidate
        elif policy.criterion == "cost-drop":
            best = candidate if candidate.drop > best.drop + best.drop_tie else best
        elif candidate.gain > best.gain + LEAST_GAIN:
            best = candidate
    if best is not None and policy.mdl_correction:
        best.gain -= math.log2(tries) / float(cases.weights.sum())
    return [] if best is None else [best]


def mean_amounts(problem, cases, column=None):
    """What tests and surcharges cost some cases on average; of a column, those whose value is known."""
    if not depends_on_case(problem):
        return listed_amounts(problem)
    total, weight = np.zeros(len(problem.marginal) + len(problem.surcharges)), 0.0
    for row, own in zip(cases.rows, cases.weights, strict=True):
        known = column is None or not is_missing(problem.columns[column][row])
        if known:
            total += own * np.array(amounts_of_row(problem, row))
            weight += own
    return (total / weight if weight > 0 else total).tolist()


def is_missing(value):
    return value < 0 if isinstance(value, np.integer) else math.isnan(value)


def seen_price(problem, policy, cases, column, paid):
    """C: the price in context, or a bias, which falls with the price as context makes it fall."""
    listed = price_in_context(problem, column, amounts=mean_amounts(problem, all_cases(problem)))
    here = listed
    if policy.context:
        here = price_in_context(problem, column, paid, mean_amounts(problem, cases, column))
    if policy.biases is None:
        return here
    return policy.biases[column] * here / listed if listed > 0 else policy.biases[column]


def paid_by_path(problem, path):
    """What was paid for by a case that had these tests one after the other."""
    paid = set()
    for test in path:
        paid = paid if test in paid else order(problem, [test], paid)
    return paid


def candidates(problem, policy, cases, path=()):
    """All candidate splits of a node, in column order, whatever their gain."""
    paid = paid_by_path(problem, path) if policy.context else set()
    found = []
    for column, n_values in enumerate(problem.n_values):
        if policy.biases is not None and math.isinf(policy.biases[column]):
            continue
        of_column = nominal_candidates if n_values else numeric_candidates
        found += of_column(problem, policy, cases, column, seen_price(problem, policy, cases, column, paid))
    return found


# -- scores -----------------------------------------------------------------------------------------------------------


def exceeds(score, best):
    """Whether a later score replaces the best one. A score is (free, number): free tests come first."""
    if score[0] != best[0]:
        return score[0]
    return score[1] > best[1] + TIE * abs(best[1])


def per_price(numerator, test_price):
    return (True, numerator) if test_price == 0 else (False, numerator / test_price)


def score(policy, candidate):
    """The score of a candidate by the policy's criterion."""
    if policy.criterion == "gain-ratio":
        return False, candidate.gain / candidate.split_info
    if policy.criterion == "gain":
        return False, candidate.gain
    if policy.criterion == "icf":
        return False, (2**candidate.gain - 1) / (candidate.price + 1) ** policy.omega
    if policy.criterion == "gain-per-price":
        return per_price(candidate.gain, candidate.price)
    if policy.criterion == "gain-squared-per-price":
        return per_price(candidate.gain**2, candidate.price)
    return False, candidate.drop


def above_average(problem, found):
    """C4.5's rule: gain ratio decides only among the candidates of at least average gain."""
    few = [c for c in found if c.threshold is not None or c.n_branches < 0.3 * problem.weights.sum() - SLACK]
    average = np.mean([c.gain for c in few or found]) if found else 0.0
    return [c for c in found if c.gain >= average - 0.001]


def best_of(scored):
    """The first of the best (score, thing) pairs, None if there is none."""
    best = None
    for new in scored:
        if best is None or exceeds(new[0], best[0]):
            best = new
    return None if best is None else best[1]


def look_ahead(problem, policy, cases, n, depth, path):
    """IDX: the best candidate with n tests to go and its pair (information gained, price spent), or None."""
    if is_leaf(policy, class_weights(problem, cases), depth) or n == 0:
        return None
    scored = []
    for candidate in candidates(problem, policy, cases, path):
        gained, spent = candidate.gain, candidate.price
        for part in divide(cases, candidate.branch, candidate.n_branches):
            onward = look_ahead(problem, policy, part, n - 1, depth + 1, (*path, candidate.column))
            if onward is not None:
                share = float(part.weights.sum() / cases.weights.sum())
                gained += share * onward[1]
                spent += share * onward[2]
        if gained > LEAST_GAIN:
            scored.append((per_price(gained, spent), (candidate, gained, spent)))
    return best_of(scored)


def choose_split(problem, policy, cases, depth=0, path=()):
    """The candidate that the criterion takes, or None."""
    if policy.idx_depth > 1:
        found = look_ahead(problem, policy, cases, policy.idx_depth, depth, path)
        return None if found is None else found[0]
    found = candidates(problem, policy, cases, path)
    if policy.criterion == "cost-drop":
        found = [c for c in found if c.drop > c.least_drop]
    else:
        found = [c for c in found if c.gain > LEAST_GAIN]
    if policy.criterion == "gain-ratio":
        found = above_average(problem, found)
    return best_of((score(policy, c), c) for c in found)


# -- growing ----------------------------------------------------------------------------------------------------------


def is_leaf(policy, weights, depth):
    """Whether a node with these class weights is not even to be split."""
    pure = sum(w > SLACK for w in weights) <= 1
    deep = policy.max_depth is not None and depth >= policy.max_depth
    return pure or deep or float(np.sum(weights)) < 2 * policy.min_cases - SLACK


def divide(cases, branch, n_branches, old_shares=None):
    """The cases of each branch. Without a value: to every branch of positive known weight, in proportion."""
    known = np.array([cases.weights[branch == b].sum() for b in range(n_branches)])
    shares = known / known.sum() if known.sum() > 0 else np.asarray(old_shares)
    parts = []
    for b in range(n_branches):
        fraction = np.where(branch == b, 1.0, np.where(branch < 0, shares[b], 0.0))
        here = fraction > 0
        parts.append(Cases(cases.rows[here], cases.weights[here] * fraction[here]))
    return parts


def divide_at(problem, node, cases):
    """Send cases one step down from an existing node."""
    taken = [branch_taken(node, problem.case(row)) for row in cases.rows]
    branch = np.array([-1 if b is None else b for b in taken], dtype=np.int64)
    return divide(cases, branch, len(node.children), branch_shares(node))


def grow_node(problem, policy, cases, depth=0, path=()):
    """Grow the subtree for some cases; answers are set later, from the top."""
    node = Node(class_weights(problem, cases))
    if is_leaf(policy, node.weights, depth):
        return node
    if policy.ahead is None:
        split = choose_split(problem, policy, cases, depth, path)
    else:
        split = choose_option(problem, policy, cases, depth, path)
    if split is not None:
        node.column, node.threshold, node.branch_of = split.column, split.threshold, split.branch_of
        parts = divide(cases, split.branch, split.n_branches)
        node.children = [grow_node(problem, policy, part, depth + 1, (*path, split.column)) for part in parts]
    return node


def all_cases(problem):
    """The training cases, without those of weight 0."""
    rows = np.flatnonzero(problem.weights > 0)
    return Cases(rows, problem.weights[rows])


def some_cases(problem, rows):
    """The problem with some of its cases only."""
    settings = {name: getattr(problem, name) for name in problem.__dataclass_fields__}
    settings |= {"columns": [column[rows] for column in problem.columns]}
    for name in ("case_prices", "case_errors"):
        settings[name] = None if settings[name] is None else settings[name][rows]
    return Problem(**(settings | {"y": problem.y[rows], "weights": problem.weights[rows]}))


def without_weightless(problem):
    """The problem without its cases of weight 0, whose values must not become thresholds either."""
    return some_cases(problem, all_cases(problem).rows)


def grow(problem, policy):
    """The tree, grown and pruned as the policy says."""
    problem = without_weightless(problem)
    root = grow_node(problem, policy, all_cases(problem))
    set_answers(problem, replace(policy, reject_below=0.0), root)  # pruning knows nothing of rejections
    if policy.prune == "pessimistic":
        root = prune_pessimistic(problem, policy, collapse(root), all_cases(problem))[0]
    elif policy.prune == "cost":
        root = prune_by_cost(problem, policy, root, all_cases(problem))
    choose_commits(problem, root, all_cases(problem))
    set_answers(problem, policy, root)
    return root


# -- pruning by errors ------------------------------------------------------------------------------------------------


def deviation(cf):
    """The normal deviation for a confidence, from Quinlan's table."""
    return float(np.interp(cf, LEVELS_OF_CONFIDENCE, DEVIATIONS))


def upper_errors(n, e, cf):
    """U(n, e): C4.5's upper limit of the number of errors among n cases of which e are wrong in training.

    >>> round(upper_errors(100, 5, 0.25), 1)
    7.3
    """
    if n <= 0:
        return 0.0
    if e < 1e-6:
        return n * (1 - cf ** (1 / n))
    if e < 0.9999:
        none = upper_errors(n, 0.0, cf)
        return none + e * (upper_errors(n, 1.0, cf) - none)
    if e + 0.5 >= n - SLACK:
        return e + 0.67 * (n - e)
    zz = deviation(cf) ** 2
    root = math.sqrt(zz * ((e + 0.5) * (1 - (e + 0.5) / n) + zz / 4))
    return n * (e + 0.5 + zz / 2 + root) / (n + zz)


def training_errors(weights):
    return float(np.sum(weights) - np.max(weights))


def upper_errors_of(policy, weights):
    """U of a leaf with these class weights."""
    return upper_errors(float(np.sum(weights)), training_errors(weights), policy.confidence)


def as_leaf(node):
    return Node(node.weights, node.answer)


def collapse(node):
    """First pass: a subtree that makes no fewer training errors than a leaf becomes one."""
    if not node.children:
        return node
    node.children = [collapse(child) for child in node.children]
    made = sum(training_errors(leaf.weights) for leaf in leaves(node))
    return as_leaf(node) if made >= training_errors(node.weights) - 0.001 else node


def recounted(problem, node, cases):
    """A copy of a subtree with the class weights that these cases give it."""
    copy = Node(class_weights(problem, cases), node.answer, [], node.column, node.threshold, node.branch_of)
    if node.children:
        parts = divide_at(problem, node, cases)
        copy.children = [recounted(problem, c, part) for c, part in zip(node.children, parts, strict=True)]
    return copy


def heaviest(children):
    """The child of largest weight, the last of equals."""
    best = children[0]
    for child in children[1:]:
        if child.weight >= best.weight - SLACK:
            best = child
    return best


def prune_pessimistic(problem, policy, node, cases):
    """Second pass: the pruned subtree and its estimate of errors."""
    leaf_estimate = upper_errors_of(policy, node.weights)
    if not node.children:
        return node, leaf_estimate
    parts = divide_at(problem, node, cases)
    pruned = [prune_pessimistic(problem, policy, c, part) for c, part in zip(node.children, parts, strict=True)]
    node.children = [child for child, _ in pruned]
    tree_estimate = sum(estimate for _, estimate in pruned)
    branch_estimate, raised = math.inf, None
    if policy.raise_subtrees:
        raised = recounted(problem, heaviest(node.children), cases)
        branch_estimate = sum(upper_errors_of(policy, leaf.weights) for leaf in leaves(raised))
    if leaf_estimate <= tree_estimate + 0.1 and leaf_estimate <= branch_estimate + 0.1:
        return as_leaf(node), leaf_estimate
    if branch_estimate <= tree_estimate + 0.1:
        return prune_pessimistic(problem, policy, raised, cases)
    return node, tree_estimate


# -- pruning by costs -------------------------------------------------------------------------------------------------


def leaf_cost(problem, policy, weights, answer):
    """mcost: the error cost to expect of a leaf with these class weights and this answer."""
    own = getattr(weights, "own_errors", None)
    plain = float(costs_of_answers(problem, weights)[answer])
    weights = np.asarray(weights, dtype=np.float64)
    total = float(weights.sum())
    if total == 0:
        return 0.0
    to_pay = problem.errors[:, answer]
    if answer >= problem.k or problem.k == 1:
        return plain
    others = [i for i in range(problem.k) if i != answer]
    wrong = total - float(weights[answer])
    upper = upper_errors(total, wrong, policy.confidence)
    if own is None:
        wrong_cost, right_cost = sum(weights[i] * to_pay[i] for i in others), to_pay[answer]
    else:
        wrong_cost = own[0, answer]
        right_cost = own[1, answer] / weights[answer] if weights[answer] > 0 else to_pay[answer]
    # One more case of every other class, which costs what the matrix says.
    per_error = (wrong_cost + sum(to_pay[i] for i in others)) / (wrong + problem.k - 1)
    return float(upper * per_error + (total - upper) * right_cost)


def paid_on(problem, path, case_values):
    """The tests that a case has had on its path, with what they require; not what orders there committed to."""
    paid = set()
    for node in path:
        if branch_taken(node, case_values) is not None and node.column not in paid:
            paid = order(problem, [node.column], paid)
    return paid


def subtree_price(problem, node, cases, path=()):
    """W * tcost(T): what a subtree charges all the cases that come to it by this path of nodes."""
    total = 0.0
    for row, weight in zip(cases.rows, cases.weights, strict=True):
        paid = paid_on(problem, path, problem.case(row))
        own = None if problem.case_prices is None else problem.case_prices[row]
        charged = charged_tests(problem, node, problem.case(row), paid, own)
        total += float(weight) * price_of_more(problem, charged, paid, amounts_of_row(problem, row))
    return total


def waits(problem, node, path):
    """Whether the node may choose between waiting for its own test and committing."""
    paid = set()
    for above in path:
        paid = paid if above.column in paid else order(problem, [above.column], paid)
    new = closure(problem, node.column) - paid
    chosen = node.column not in paid and not any(problem.delayed[t] for t in new)
    return chosen and bool(problem.waiting) and any(problem.wait[t] > 0 for t in new)


def commit_if_cheaper(problem, node, cases, path):
    """Let a node that waits order everything below it at once where that charges its cases less."""
    node.commits = False
    if not waits(problem, node, path):
        return
    alone = subtree_price(problem, node, cases, path)
    node.commits = True
    node.commits = subtree_price(problem, node, cases, path) < alone - TIE * alone


def choose_commits(problem, node, cases, path=()):
    """Decide for every node of a tree, from the bottom, whether it commits."""
    if not node.children:
        return
    for child, part in zip(node.children, divide_at(problem, node, cases), strict=True):
        choose_commits(problem, child, part, (*path, node))
    commit_if_cheaper(problem, node, cases, path)


def prune_by_cost(problem, policy, node, cases, path=()):
    """Bottom-up: a subtree becomes a leaf where the leaf is expected to cost no more."""
    if not node.children:
        return node
    parts = divide_at(problem, node, cases)
    below = (*path, node)
    node.children = [
        prune_by_cost(problem, policy, child, part, below) for child, part in zip(node.children, parts, strict=True)
    ]
    commit_if_cheaper(problem, node, cases, path)
    errors = sum(leaf_cost(problem, policy, leaf.weights, leaf.answer) for leaf in leaves(node))
    prices = subtree_price(problem, node, cases, path)
    as_one = leaf_cost(problem, policy, node.weights, node.answer)
    tie = TIE * (node.weight * largest_error(problem) + prices)
    return as_leaf(node) if as_one <= errors + prices + tie else node


def tree_cost(problem, policy, node):
    """What a tree is expected to cost per case."""
    answers = [choose_answer(problem, policy, leaf.weights) for leaf in leaves(node)]
    errors = sum(leaf_cost(problem, policy, leaf.weights, a) for leaf, a in zip(leaves(node), answers, strict=True))
    return (errors + subtree_price(problem, node, all_cases(problem))) / float(problem.weights.sum())


# -- look-ahead -------------------------------------------------------------------------------------------------------


@dataclass
class Worth:
    """What a sampled tree, or a part of one, is worth."""

    errors: float = 0.0
    prices: float = 0.0
    leaves: int = 0
    tests: frozenset[int] = frozenset()  # that it asks

    @property
    def total(self):
        return self.errors + self.prices

    def __add__(self, other):
        sums = (getattr(self, name) + getattr(other, name) for name in ("errors", "prices", "leaves"))
        return Worth(*sums, self.tests | other.tests)


def leaf_worth(problem, policy, cases, above):
    """What some cases are worth as a leaf; without any, it answers as the node above."""
    weights = class_weights(problem, cases)
    answer = choose_answer(problem, policy, weights) if weights.sum() > 0 else above
    errors = leaf_cost(problem, replace(policy, confidence=policy.ahead.confidence), weights, answer)
    return Worth(errors, leaves=int(weights.sum() > 0))


def asked_first(problem, test, path, cases, known, below):
    """The worth of asking a test above some subtrees: it charges the cases whose value is known."""
    paid = paid_by_path(problem, path)
    if test in paid:
        return Worth(below.errors, below.prices, below.leaves, below.tests)
    amounts = mean_amounts(problem, cases, test)
    new = closure(problem, test) - paid
    alone = below.prices + known * price_of_more(problem, order(problem, [test], paid), paid, amounts)
    all_at_once = known * price_of_more(problem, order(problem, {test, *below.tests}, paid), paid, amounts)
    prices = alone
    if any(problem.delayed[t] for t in new):
        prices = all_at_once
    elif problem.waiting and any(problem.wait[t] > 0 for t in new):
        prices = min(alone, all_at_once)
    return Worth(below.errors, prices, below.leaves, below.tests | {test})


def worth_of_split(problem, policy, cases, split, depth, path):
    """What a split is worth with a greedy sample below each branch."""
    answer = choose_answer(problem, policy, class_weights(problem, cases))
    known = float(cases.weights[split.branch >= 0].sum())
    below = Worth()
    for part in divide(cases, split.branch, split.n_branches):
        below += greedy_sample(problem, policy, part, depth + 1, (*path, split.column), answer)
    return asked_first(problem, split.column, path, cases, known, below)


def greedy_sample(problem, policy, cases, depth, path, above):
    """The worth of the tree that grows greedily from some cases."""
    leaf = leaf_worth(problem, policy, cases, above)
    if is_leaf(policy, class_weights(problem, cases), depth):
        return leaf
    split = choose_split(problem, policy, cases, depth, path)
    if split is None:
        return leaf
    worth = worth_of_split(problem, policy, cases, split, depth, path)
    return leaf if policy.ahead.samples == "pruned" and not clearly_less(worth, leaf) else worth


def clearly_less(worth, leaf):
    """Whether a split costs less than the leaf, ties apart."""
    return worth.total < leaf.total - TIE * (abs(leaf.total) + worth.prices)


def best_cuts(problem, policy, cases, column, test_price):
    """The r cuts of highest gain, best first, the lower of equals."""
    ranked = []
    for cut in cuts(problem, policy, cases, column, test_price):
        place = len(ranked)
        while place > 0 and cut.gain > ranked[place - 1].gain + LEAST_GAIN:
            place -= 1
        ranked.insert(place, cut)
    return ranked[: policy.ahead.r]


def options(problem, policy, cases):
    """The splits that a look-ahead compares, whatever they gain."""
    found = []
    for column, n_values in enumerate(problem.n_values):
        if not n_values:
            found += best_cuts(problem, policy, cases, column, 0.0)
            continue
        found += best_subsets(problem, policy, cases, column, 0.0, policy.ahead.r)
        whole = multiway_candidates(problem, policy, cases, column, 0.0)
        replaced = list(range(n_values)) if policy.nominal_splits == "subset" and n_values > 2 else None
        found += [candidate for candidate in whole if candidate.branch_of != replaced]
    return found


def same_split(one, other):
    return one.column == other.column and np.array_equal(one.branch, other.branch) and one.branch_of == other.branch_of


def choose_option(problem, policy, cases, depth, path):
    """The option of least worth, unless the greedy choice stands; None if there is no option."""
    valued = []
    for option in options(problem, policy, cases):
        worth = worth_of_split(problem, policy, cases, option, depth, path)
        valued.append((float(worth.leaves) if policy.ahead.by_size else worth.total, option))
    if not valued:
        return None
    least, best = valued[0]
    for worth, option in valued[1:]:
        if worth < least - TIE * abs(least):
            least, best = worth, option
    greedy = choose_split(problem, policy, cases, depth, path)
    if policy.ahead.margin > 0 and greedy is not None:
        for worth, option in valued:
            if same_split(option, greedy) and least >= worth - policy.ahead.margin * abs(worth):
                return option
    return best


def sample_cost(problem, policy):
    """What the greedy sample of all cases costs per case, or its leaves where size counts."""
    worth = greedy_sample(problem, policy, all_cases(problem), 0, (), 0)
    return float(worth.leaves) if policy.ahead.by_size else worth.total / float(problem.weights.sum())


# -- trials -----------------------------------------------------------------------------------------------------------


def average_cost(problem, policy, node):
    """What the cases of a problem cost on average: tests and errors; 0 if there is none."""
    total = 0.0
    for row in range(len(problem.y)):
        case = problem.case(row)
        own = None if problem.case_prices is None else problem.case_prices[row]
        end = walk(problem, policy, node, case, own_prices=own)
        spent = price(problem, end.charged, amounts_of_row(problem, row))
        errors = problem.errors[problem.y[row]] if problem.case_errors is None else problem.case_errors[row]
        error = errors[classify(problem, policy, node, case)[0]]
        total += problem.weights[row] * (spent + error)
    return total / problem.weights.sum() if problem.weights.sum() > 0 else 0.0


def trial(problem, policy, grows, growing_weights=None, judging_weights=None):
    """What a tree grown from the cases in `grows` costs the others."""
    growing = problem if growing_weights is None else replace(problem, weights=growing_weights)
    judging = problem if judging_weights is None else replace(problem, weights=judging_weights)
    node = grow(some_cases(growing, np.flatnonzero(grows)), policy)
    return average_cost(some_cases(judging, np.flatnonzero(~grows)), policy, node)


# -- forests ----------------------------------------------------------------------------------------------------------


@dataclass
class ForestPolicy:
    """How GreedyTree grows one tree of a forest; every cut of a number is tried here."""

    impurity: str = "pairs"
    parameter: float = 0.0
    expected: bool = False
    context: bool = False
    max_depth: int | None = None
    nominal_splits: str = "multiway"


def impurity(name, counts, parameter):
    """How far classes of these sizes are mixed: equations 11 and 14 of Nan, Wang & Saligrama (2015)."""
    counts = [float(n) for n in counts]
    if name == "powers":
        return sum(counts) ** parameter - sum(n**parameter for n in counts) if sum(n > 0 for n in counts) > 1 else 0.0
    pairs = [(a, b) for i, a in enumerate(counts) for b in counts[i + 1 :]]
    over = [(max(a - parameter, 0.0), max(b - parameter, 0.0)) for a, b in pairs]
    return sum(max(a * b - parameter**2, 0.0) for a, b in over)


@dataclass
class Option:
    """A split that GreedyTree may make: its risk is price / drop."""

    column: int
    branch: np.ndarray  # per case of the node, -1 = missing
    n_branches: int
    price: float
    drop: float
    threshold: float | None = None
    branch_of: list[int] | None = None

    def better_than(self, other):
        """Less risk; of equals, and of free tests, the larger drop."""
        mine, its = self.price * other.drop, other.price * self.drop
        return mine < its if mine != its else self.drop > other.drop


def drop_of_impurity(problem, policy, cases, branch, n_branches):
    """By how much a split lowers the impurity in the worst branch, or on average; 0 with fewer than two branches."""
    here = impurity(policy.impurity, class_weights(problem, cases), policy.parameter)
    table = [row for row in branch_table(problem, cases, branch, n_branches) if row.sum() > 0]
    if len(table) < 2:
        return 0.0
    below = [impurity(policy.impurity, row, policy.parameter) for row in table]
    if not policy.expected:
        return here - max(below)
    weights = [float(row.sum()) for row in table]
    return here - sum(w * f for w, f in zip(weights, below, strict=True)) / sum(weights)


def half_way(below, above):
    """The threshold between two values; neighbours among the numbers have none between them."""
    middle = 0.5 * below + 0.5 * above
    return middle if middle < above else below


def greedy_options(problem, policy, cases, path=(), least=1e-9):
    """All splits of a node that lower its impurity by more than the share `least`, in column order, low cuts first."""
    here = impurity(policy.impurity, class_weights(problem, cases), policy.parameter)
    paid = paid_by_path(problem, path) if policy.context else set()
    # A tree of a forest has its own sample of the cases; prices are the mean of all, each counted once.
    amounts = mean_amounts(problem, Cases(np.arange(len(problem.y)), np.ones(len(problem.y))))
    found = []
    for column, n_values in enumerate(problem.n_values):
        values = problem.columns[column][cases.rows]
        test_price = price_in_context(problem, column, paid, amounts)
        if n_values:
            ways = [nominal_way(problem, policy, cases, values, n_values)]
        else:
            distinct = np.unique(values[~np.isnan(values)]).tolist()
            ways = [
                (half_way(v, above), np.where(np.isnan(values), -1, (values > v).astype(int)), 2, None)
                for v, above in pairwise(distinct)
            ]
        for threshold, branch, n_branches, branch_of in ways:
            drop = drop_of_impurity(problem, policy, cases, branch, n_branches)
            if drop > least * here:
                found.append(Option(column, branch, n_branches, test_price, drop, threshold, branch_of))
    return found


def nominal_way(problem, policy, cases, values, n_values):
    """How GreedyTree asks a nominal test: (None, branch of each case, number of branches, value -> branch)."""
    table = branch_table(problem, cases, values, n_values)
    n_present = int(np.sum(table.sum(axis=1) > SLACK))
    whole = None, values, n_values, list(range(n_values))
    if policy.nominal_splits == "multiway" or n_values < 3 or n_present < 2:
        return whole
    best = None
    for left in divisions(table, share_keys(table)):
        branch_of = sides_of(table, left)
        branch = np.array([branch_of[v] if v >= 0 else -1 for v in values], dtype=np.int64)
        drop = drop_of_impurity(problem, policy, cases, branch, 2)
        if best is None or drop > best[0] * (1 + 1e-12):
            best = drop, (None, branch, 2, branch_of)
    sides = branch_table(problem, cases, best[1][1], 2)
    if policy.nominal_splits == "both" and not shorter(
        description_bits(sides, n_present - 1), description_bits(table, 0)
    ):
        return whole
    return best[1]


def greedy_tree(problem, policy, cases, depth=0, path=()):
    """GreedyTree (algorithm 1): the split of least price per drop of impurity, until there is no impurity left."""
    node = Node(class_weights(problem, cases))
    if impurity(policy.impurity, node.weights, policy.parameter) <= 0 or depth == policy.max_depth:
        return node
    best = None
    for option in greedy_options(problem, policy, cases, path):
        if best is None or option.better_than(best):
            best = option
    if best is not None:
        node.column, node.threshold = best.column, best.threshold
        node.branch_of = best.branch_of
        node.children = [
            greedy_tree(problem, policy, part, depth + 1, (*path, best.column))
            if len(part.rows)
            else Node(class_weights(problem, part))
            for part in divide(cases, best.branch, best.n_branches)
        ]
    return node


def leaf_counts(end):
    """The class weights of the leaves a case ends in; an empty leaf speaks for one case."""
    return sum(
        share * (np.asarray(leaf.weights) if leaf.weight > 0 else end.shares[id(leaf)]) for share, leaf in end.parts
    )


def consult(problem, policy, trees, case_values, amounts=None):
    """What every tree of a forest says of a case: (answer, class weights, what it charges on top of those before).

    And the tests that the case is charged for by all of them.
    """
    said, paid = [], frozenset()
    for tree in trees:
        own = None if amounts is None else amounts[: len(case_values)]
        end = walk(problem, policy, tree, case_values, paid, may_stop=False, own_prices=own)
        extra = price_of_more(problem, end.charged, paid, amounts)
        said.append((answer_at(problem, policy, end)[0], leaf_counts(end), extra))
        paid |= end.charged
    return said, paid


def vote(k, said, default):
    """The answer of a forest: most votes, then more cases in the leaves, then the first class."""
    if not said:
        return default
    votes = [sum(answer == c for answer, _, _ in said) for c in range(k)]
    counts = sum(counts for _, counts, _ in said)
    return max(range(k), key=lambda c: (votes[c], counts[c], -c))
