"""Types of the compiled core (core/python/bindings.cpp)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int32]
_Words = npt.NDArray[np.uint64]
# Answers, prices, class shares, and the charged tests as bits, 64 to a word.
_Routes = tuple[_Ints | None, _Floats | None, _Floats | None, _Words | None]

class Table:
    def __init__(self, n_cases: int, has_missing: bool) -> None: ...
    def add_numeric(self, values: _Floats) -> None: ...
    def add_nominal(self, codes: _Ints, n_values: int, levels: list[list[int]]) -> None: ...
    def set_prices(self, case_prices: _Floats) -> None: ...
    def set_deviations(self, deviations: _Floats) -> None: ...

class Binned:
    def __init__(self, values: npt.NDArray[np.float32], max_bins: int = ...) -> None: ...

class Pricing:
    def __init__(
        self,
        *,
        marginal: _Floats,
        group_start: _Ints,
        group_list: _Ints,
        common: _Floats,
        delayed: npt.NDArray[np.uint8],
        closure_start: _Ints,
        closure_tests: _Ints,
        wait: _Floats,
        waiting: _Floats,
        surcharge_test: _Ints,
        after_start: _Ints,
        after_tests: _Ints,
        after_any_start: _Ints,
        after_any_tests: _Ints,
        truth: _Ints,
        cap: float = ...,
        unit: float = 1.0,
    ) -> None: ...

class Errors:
    def __init__(self, matrix: _Floats, unit: float = 1.0) -> None: ...

class Policy:
    def __init__(
        self,
        *,
        criterion: str,
        omega: float,
        min_cases: float,
        min_share: float,
        max_depth: int,
        mdl_correction: bool,
        context: bool,
        idx_depth: int,
        least_cost: bool,
        prune: str,
        confidence: float,
        raise_subtrees: bool,
        max_leaves: int = ...,
        may_stop: bool = True,
        reject_below: float = 0.0,
        n_threads: int,
        biases: _Floats | None = None,
    ) -> None: ...
    def set_sampling(
        self,
        *,
        r: int,
        greedy_first: bool,
        by_size: bool,
        samples: str,
        confidence: float,
        margin: float,
        seed: int,
    ) -> None: ...

class Meter:
    def __init__(self) -> None: ...
    @property
    def share(self) -> float: ...

class Tree:
    def __init__(
        self,
        n_classes: int,
        *,
        test: _Ints,
        threshold: _Floats,
        first_child: _Ints,
        n_children: _Ints,
        map_start: _Ints,
        map_size: _Ints,
        maps: _Ints,
        answer: _Ints,
        weights: _Floats,
        probabilities: _Floats | None = None,
        reached: _Floats | None = None,
        commits: npt.NDArray[np.uint8] | None = None,
        surcharges: _Floats | None = None,
        answer_costs: _Floats | None = None,
        may_stop: bool = True,
    ) -> None: ...
    test: _Ints
    threshold: _Floats
    first_child: _Ints
    n_children: _Ints
    map_start: _Ints
    map_size: _Ints
    maps: _Ints
    answer: _Ints
    commits: npt.NDArray[np.uint8]
    weights: _Floats
    may_stop: bool
    def shares(self) -> _Floats: ...
    def votes(self) -> _Floats: ...
    def recounted(self, table: Table, classes: _Ints, weights: _Floats | None) -> _Floats: ...
    def answer_costs(self, table: Table, classes: _Ints, weights: _Floats | None, errors: Errors) -> _Floats: ...

class CaseWalker:
    def __init__(
        self, tree: Tree, table: Table, pricing: Pricing, errors: Errors, *, least_cost: bool, may_stop: bool
    ) -> None: ...
    def walk(self, row: int, known: Sequence[int], paid: Sequence[int], also_paid: Sequence[int]) -> dict[str, Any]: ...

class ForestRouter:
    def __init__(
        self,
        table: Table,
        pricing: Pricing,
        errors: Errors,
        case_prices: _Floats | None = None,
        shares: bool = False,
        known: npt.NDArray[np.uint8] | None = None,
        paid: npt.NDArray[np.uint8] | None = None,
    ) -> None: ...
    def consult(
        self, tree: Tree, who: npt.NDArray[np.uint8] | None = None, n_threads: int = 1
    ) -> tuple[_Ints, _Floats, _Floats]: ...
    def consult_all(self, trees: list[Tree], n_threads: int = 1) -> tuple[_Ints, _Floats, _Floats]: ...
    def charged(self) -> _Words: ...
    def awaited(self) -> tuple[_Ints, _Words, _Words]: ...

def criteria() -> list[str]: ...
def grow(
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    policy: Policy,
    pruning_weights: _Floats | None = None,
    meter: Meter | None = None,
) -> Tree: ...
def search_exactly(
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    *,
    max_depth: int,
    max_leaves: int = ...,
    leaf_price: float,
    deepest: int,
    horizon: int,
    max_cuts: int,
    memory: int,
    work: float,
    seconds: float,
    n_threads: int,
    tell: Callable[[float, float], bool] | None,
) -> tuple[Tree, float, float, bool, bool, list[tuple[Tree, float]], Tree, float]: ...
def near_optimal_trees(
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    *,
    max_depth: int,
    max_leaves: int = ...,
    leaf_price: float,
    max_cuts: int,
    memory: int,
    work: float,
    seconds: float,
    margin: float,
    max_trees: int,
    by_structure: bool,
) -> tuple[
    float,
    float,
    int,
    int,
    list[tuple[Tree, float]],
    list[tuple[int, int, int, float]],
    list[tuple[int, int, float]],
]: ...
def grow_forest(
    table: Table,
    classes: _Ints,
    n_classes: int,
    weights: _Floats,
    pricing: Pricing,
    *,
    impurity: str,
    parameter: float,
    expected: bool,
    cuts: str,
    context: bool,
    max_depth: int,
    node_tests: int = ...,
    seeds: list[int],
    n_threads: int,
    asks: npt.NDArray[np.uint8] | None = None,
    seconds: float = ...,
) -> list[Tree]: ...
def random_forest(
    cases: Binned,
    features: _Ints,
    classes: _Ints,
    n_classes: int,
    weights: _Floats | None,
    *,
    n_trees: int,
    min_leaf: int,
    n_tried: int,
    n_drawn: int,
    random_cuts: bool,
    seed: int,
    n_threads: int,
) -> tuple[dict[str, npt.NDArray[Any]], _Floats, _Floats]: ...
def boosted_trees(
    cases: Binned,
    features: _Ints,
    classes: _Ints,
    n_classes: int,
    weights: _Floats | None,
    folds: _Ints,
    *,
    n_rounds: int,
    rate: float,
    max_leaves: int,
    min_leaf: int,
    marks: list[int],
    n_threads: int,
) -> tuple[dict[str, npt.NDArray[Any]], _Floats, _Floats]: ...
def sum_leaves(
    cases: npt.NDArray[np.float32],
    n_outputs: int,
    *,
    feature: _Ints,
    threshold: npt.NDArray[np.float32],
    missing_left: npt.NDArray[np.bool_],
    left: _Ints,
    right: _Ints,
    value: npt.NDArray[np.float32],
    roots: _Ints,
    output: _Ints,
) -> _Floats: ...
def impurity(name: str, counts: _Floats, parameter: float) -> float: ...
def grow_ahead(
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    policy: Policy,
    *,
    seconds: float,
    seconds_more: float,
    meter: Meter | None = None,
) -> Tree: ...
def sample_costs(
    table: Table, classes: _Ints, weights: _Floats | None, pricing: Pricing, errors: Errors, policy: Policy, n: int
) -> _Floats: ...
def with_few_leaves(
    tree: Tree,
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    policy: Policy,
) -> Tree: ...
def tree_cost(
    tree: Tree,
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    policy: Policy,
) -> float: ...
def try_biases(
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    policy: Policy,
    *,
    biases: _Floats,
    omega: _Floats,
    confidence: _Floats,
    max_depth: _Ints,
    reject_below: _Floats,
    split: _Ints,
    grows: npt.NDArray[np.uint8] | None,
    seed: int | None,
    growing_weights: _Floats | None,
    judging_weights: _Floats | None,
    n_threads: int,
    seconds: float,
) -> _Floats: ...
def random_half(n_cases: int, seed: int, split: int) -> npt.NDArray[np.uint8]: ...
def route(
    tree: Tree,
    table: Table,
    pricing: Pricing,
    errors: Errors,
    *,
    least_cost: bool,
    answers: bool = False,
    prices: bool = False,
    shares: bool = False,
    charged: bool = False,
    n_threads: int = 1,
    case_prices: _Floats | None = None,
) -> _Routes: ...
def route_lazily(
    table: Table,
    classes: _Ints,
    weights: _Floats | None,
    pricing: Pricing,
    errors: Errors,
    policy: Policy,
    cases: Table,
) -> _Routes: ...
def upper_errors(cases: float, errors: float, cf: float) -> float: ...
def leaf_cost(errors: Errors, weights: _Floats, answer: int, cf: float) -> float: ...
