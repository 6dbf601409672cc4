"""Write the sections "Parameters" and "Attributes" into the docstrings of the learners, and the table of --help.

    python docs/write_parameters.py            # list the files that are not current
    python docs/write_parameters.py --write    # write them

A parameter is described once, here, and stands in full in every class that has it, with that class's own default.
`OWN` holds the descriptions that apply to one class only.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

from worthwhile.cli.learners import LEARNERS as COMMANDS
from worthwhile.cli.learners import OPTIONS, find_learner
from worthwhile.learners.model_file import LEARNERS
from worthwhile.learners.parameters import RULES
from worthwhile.learners.tree_classifier import TreeClassifier
from worthwhile.wording import enumeration

SOURCE = Path(__file__).resolve().parent.parent / "src"
TABLE = SOURCE / "worthwhile" / "cli" / "parameters.tsv"  # for `worthwhile learn --help`
WIDTH = 120
CHOICES = ""  # as a type: the strings to choose from, by the rule of the parameter

SEED = "int, numpy Generator or RandomState"
SEVERAL = """On top of what the learner itself does with error costs, each case weighs as much as it costs to
    misclassify it (Ting 1998). None: all cases weigh the same."""
SEARCHED_MIN_CASES = """At least two branches of a split must each hold this weight of cases. None: 2, with soft labels
    5."""
WORKERS = """Number of threads. None: one; -1: all processors. The result does not depend on it. Workers set up by
    `joblib.parallel_config`, such as other processes or a Dask cluster, take the place of threads."""

# In the order in which they stand in a docstring: name -> (type, description).
PARAMETERS: Mapping[str, tuple[str, str]] = {
    "costs": ("Costs", "Prices of the tests and costs of errors. None: tests are free, and every error costs 1."),
    "cap": (
        "float",
        """The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a test
        commits to and waiting included. With 0, only free tests are used. None: no limit.""",
    ),
    "budget": (
        "float",
        "What the tests may cost per case, on average. None: as much as is worth it, by the costs of errors.",
    ),
    "variant": (CHOICES, ""),
    "alpha": (
        "float or list of float",
        """Threshold of the impurity "pairs": how many cases of a class a leaf may misclassify. Larger values give
        smaller trees, and more of them fit into the budget. From a list, the value with the lowest validation error is
        chosen (the lowest total cost, if not all errors cost the same). The paper's values are
        `worthwhile.learners.forest.classifier.ALPHAS`.""",
    ),
    "max_trees": ("int", "Largest number of trees. None: 60, or 40 of the published forest."),
    "impurity": (
        CHOICES,
        """What a split has to lower. "pairs": the number of pairs of cases of different classes, above the threshold
        `alpha` (equation 11). "powers": a power of the number of cases minus the powers of the class sizes
        (equation 14).""",
    ),
    "power": (
        "float or list of float",
        """Exponent of the impurity "powers", at least 2. From a list, the value is chosen as for `alpha`.""",
    ),
    "splits": (CHOICES, "Whether a split is judged by its worst branch or by the mean over its branches."),
    "cuts": (
        CHOICES,
        """Which cuts of a numeric test are tried. "random": 80, 40 or 20 random ones between the smallest and the
        largest value, at nodes of more than 2,000, more than 500, or fewer cases. "exact": all of them.""",
    ),
    "sampling": (
        CHOICES,
        """Which cases a tree is grown from. "drawn": a bootstrap sample, as in the paper; better where classes overlap.
        "weighted": all cases, each with a weight of ½ plus ½ for every time it was drawn; better where they hardly
        overlap. "chosen": whichever does better on the validation cases with ten trees; "drawn", if there are no
        validation cases.""",
    ),
    "tests": (
        CHOICES,
        """"all": each tree may use any test, at its price, as in the paper. "chosen": further forests are grown that
        use only some tests, the most important ones for their price, and ignore prices among these; sets of all sizes
        are tried, and the forest with the fewest errors within the budget is chosen. This takes longer and gets far
        more out of small budgets.""",
    ),
    "r": ("int", "Number of sampled trees below every branch, and of cuts tried for every numeric test."),
    "omega": ("float", "How strongly prices count; 0 ignores them."),
    "hierarchies": (
        "mapping of column to {value: more general value}",
        "ISA trees of nominal values: a test may be asked at any level of generalisation.",
    ),
    "lookahead": (
        "int",
        """How many tests to look ahead: a test is scored together with its best continuations, by the information that
        all of them gain per total price. 1: the test alone.""",
    ),
    "lazy": (
        "bool",
        """Grow nothing in `fit`; for each case to classify, grow only the path that it takes. Answers and prices are
        those of the unpruned tree, so ``prune="none"`` is required. The whole tree, `tree_`, is grown when it is first
        needed: by `next_test`, `run`, `explain`, `rules` or `save`.""",
    ),
    "search": (
        CHOICES,
        """"real": every test has a bias. "binary": every test has a bit that says whether EG2 may use it, at its true
        price.""",
    ),
    "seeded": (
        "bool",
        """Whether the first generation contains EG2 on the true prices ("refined": with several settings, and "no
        test").""",
    ),
    "population": ("int", "Individuals per generation."),
    "trials": ("int", "Largest number of individuals that are tried."),
    "crossover": ("float", "Share of a generation that exchanges bits between two points."),
    "mutation": ("float", "Probability that a bit is replaced by a random one."),
    "weighting": (
        CHOICES,
        """"instance": each case weighs as much as it costs to misclassify it, in growing and in pruning (Ting 1998).
        None: all cases weigh the same.""",
    ),
    "vector": (
        '{"sum", "max"} or mapping of class to cost',
        """What it costs to misclassify a case of a class: the sum over all wrong answers, the most expensive of them,
        or as given.""",
    ),
    "priors": (
        CHOICES,
        """"altered": the weights are used in growing alone; the tree is pruned, and answers, as if there were none.""",
    ),
    "soft_label_weight": (
        'float or "chosen"',
        """Share of soft labels, which are class probabilities by a random forest and a logistic regression, in the
        labels that the tree is grown from, pruned by and answers by. "chosen": 0, ½ or 1, whichever leads to the
        cheapest answers in a cross-validation.""",
    ),
    "leaf_price": (
        'float or "chosen"',
        """What every leaf adds to the cost per case while trees are compared, in the money of the prices: larger values
        give smaller trees. "chosen": 0, 0.5 or 2 % of what a case costs without any test, by cross-validation.""",
    ),
    "soft_labels": (
        'float or "chosen"',
        """Share of soft labels, which are class probabilities by a random forest, a logistic regression and boosted
        trees, in the labels that the tree is learned from. "chosen": 0, ½ or 1, by cross-validation.""",
    ),
    "deepen": (
        'bool or "chosen"',
        """Whether the proven tree is grown further, at most six levels below `max_depth`: each of its nodes but the
        first looks three levels ahead again. "chosen": where that costs less in cross-validation; there is
        none if `leaf_price` is given and `soft_labels` is 0. With `max_leaves` never.""",
    ),
    "nominal_splits": (
        CHOICES,
        """How nominal tests are asked. "multiway": a branch for every value. "subset": two branches, for some values
        and for the rest. "both": at each node, whichever has the shorter description. Up to 5 values, all ways to
        divide them are tried at each node; of more, each value against the rest, and cuts of the values in order by
        class share (DTMC: by cost).""",
    ),
    "near_optimal": (
        "float",
        """Also count the trees whose objective is at most this share above that of the best one (`near_optimal_`), if
        the best one is proven and that takes little work. Not with `min_cases`. None: do not.""",
    ),
    "thresholds": (
        'int or "all"',
        """Cuts of numeric tests that are tried: all, or at most so many of each, at quantiles. With a number, the tree
        is the best one among these cuts.""",
    ),
    "preset": (
        CHOICES,
        """"given": the other parameters as they are. "chosen": these or one of two presets, whichever leads to the
        cheapest answers in a cross-validation. One preset allows branches of a single case and prunes less
        (`confidence` 0.5); the other also takes the test of highest gain, not gain ratio, with a `min_share` of 0.""",
    ),
    "mdl_correction": (
        "bool",
        "C4.5's later correction: a numeric test loses log2(number of cuts tried) / cases of its gain.",
    ),
    "context": (
        "bool",
        """True: the criterion uses what a test costs after those on the path: nothing if it is paid for, less if its
        group is. False: list prices.""",
    ),
    "prune": (
        CHOICES,
        """C4.5's error-based pruning, pruning by expected total cost (as in ACT), or none.""",
    ),
    "confidence": ("float", "Confidence level of the pessimistic error estimate; smaller values prune more."),
    "raise_subtrees": ("bool", "Whether pessimistic pruning may replace a node by its largest branch."),
    "min_cases": ("float", "At least two branches of a split must each hold this weight of cases."),
    "min_share": (
        "float",
        """Both sides of a numeric cut must hold this share of the node's cases divided by the number of classes, but
        never more than 25 cases (C4.5). 0: only `min_cases` counts.""",
    ),
    "max_leaves": (
        "int",
        """Largest number of leaves. A tree with more is cut down to the part with the lowest expected total cost; ACT
        and ICET compare trees after the cut.""",
    ),
    "max_depth": ("int", "Longest path from the root to a leaf, at most 4096."),
    "answer": (
        CHOICES,
        "Whether a leaf answers its most frequent class, or the answer with the lowest expected error cost.",
    ),
    "samples": (
        CHOICES,
        """How far sampled trees are grown: until nothing can be split, or pruned after that. None: "grown"; "refined":
        "pruned" with soft labels, delayed tests or surcharges.""",
    ),
    "validation": (
        "float or pair (X, y)",
        """Share of the training cases that is held out to measure prices and errors, or other cases for this. Without a
        budget, about one over this share of parts are held out in turn. None: the training cases themselves.""",
    ),
    "adaptive": (
        'bool or "settled"',
        """True: trees are consulted in order, and a case stops, and pays no more, when the remaining votes cannot
        change its answer, or when the next tree costs more than it is expected to save. With a budget, the rate between
        prices and error costs is chosen so that the budget is kept; without one (``variant="paper"``), both are in the
        same unit. "settled": only the first reason counts. False: all trees are consulted.""",
    ),
    "base": (
        '{"forest", "boosting", "chosen"} or classifier',
        """The model of each set of tests: a random forest, with out-of-bag probabilities; gradient boosting; or any
        scikit-learn classifier with `predict_proba`, fitted in five folds (nominal columns are one-hot encoded; it must
        know missing values if there are any). "chosen": forests of several shapes and boosting compete by their
        probabilities for cases left out, for a small, a middle and the largest set; other sets follow the one nearest
        in size.""",
    ),
    "n_trees": (
        "int",
        """Number of trees of each forest, or most rounds of boosting (half as many with more than three classes); cases
        left out decide whether fewer rounds are better.""",
    ),
    "readable": ("bool", "Whether only single trees are tried, which people can read."),
    "learners": (
        "list of str",
        """The learners to try beside no test and free tests only, of "dtmc", "eg2", "optimal", "cascade",
        "budget-forest", "act" and "icet". None: those that there is time for.""",
    ),
    "time_limit": ("float", ""),
    "memory_limit": ("float", "Megabytes for what the search remembers. None: 1,024. Less only makes it slower."),
    "callback": ("function", ""),
    "cross_fit": (
        "bool",
        """Whether `fit` also grows trees on parts of the cases, to find out what new cases cost (`expected_cost_`) and
        how far to trust the class shares of small nodes. False: `fit` takes a fifth of the time (ICET: half, ACT:
        little less), and probabilities are the plain class shares of the training cases.""",
    ),
    "nominal": (
        "list of column names or positions",
        """Numeric columns to treat as categories. Columns of strings, categories and booleans are always nominal;
        ordered categories are cut like numbers.""",
    ),
    "columns": ("list of str", "Names for the columns of an X that has none."),
    "random_state": (SEED, "Not used, since nothing is random here; every learner has this parameter."),
    "n_jobs": ("int", "Number of threads. None: one; -1: all processors. The result does not depend on it."),
}

# Descriptions for one class alone: class -> name -> description.
OWN: Mapping[str, Mapping[str, str]] = {
    "EG2Classifier": {
        "variant": """"paper": the formula with prices as given, so that the currency matters. "refined": prices are
        first scaled to a geometric mean of 5, without free tests.""",
    },
    "C45CSClassifier": {"random_state": "Makes the soft labels repeatable; without them nothing is random."},
    "LSID3Classifier": {
        "costs": """Prices of the tests and costs of errors, for `test_costs` and the like; growing ignores them, unless
        `weighting` is set.""",
        "time_limit": """Seconds after which the remaining nodes are split without look-ahead. If the table has more
        than 500,000 cells (cases times columns) per second of the limit, a random part of the cases is used.""",
        "random_state": "Makes the samples repeatable.",
    },
    "ACTClassifier": {
        "variant": """"paper": the published algorithm, in which the currency matters. "refined": prices are scaled as
        in `EG2Classifier`; a cross-validation decides whether to learn from the cases' own labels or from soft labels
        by a random forest and a logistic regression, and whether with look-ahead or like EG2 or DTMC; with delayed
        tests or soft labels, sampled trees are pruned before they are valued; and with a `time_limit` the search goes
        on until the time is over.""",
        "r": """Number of sampled trees below every branch, and of cuts tried for every numeric test. 0: no look-ahead,
        which makes "paper" EG2, pruned by cost. With a `time_limit`, "refined" goes on past `r`.""",
        "omega": """How strongly prices count in EG2. None: by the costs, as in the paper ("refined": 0.25 with soft
        labels).""",
        "confidence": """Confidence level of the pessimistic error estimate. None: by the costs, as in the paper
        ("refined": 0.75 with soft labels).""",
        "min_cases": SEARCHED_MIN_CASES,
        "weighting": SEVERAL,
        "time_limit": """Seconds. "refined": trees with more samples, other ω and other confidence levels are tried
        until the time is over, and kept if they cost less on cases left out; making the soft labels is not cut short,
        and is skipped if less than 1 s plus 1 s per 1,000 cases is left. If the table is too large for the time, trees
        are grown from some of the cases; nodes count these if there is no time to count all. "paper": after this time
        the remaining nodes are split without look-ahead. After Ctrl-C, `fit` raises KeyboardInterrupt; the learner then
        holds the best tree so far, if there was one.""",
        "callback": "Called with a `Progress` whenever a better tree is found. If it returns True, the search ends.",
        "random_state": "Makes the samples repeatable; with a time limit, only on an equally fast machine.",
    },
    "OptimalClassifier": {
        "nominal_splits": """How nominal tests are asked: a branch for every value; two branches, for some values and
        for the rest; or both. Up to 5 values, all ways to divide them are tried; of more, each value against the
        rest.""",
        "max_depth": """Longest path from the root to a leaf of the trees that the proof is about, and of the tree
        unless it is grown further (`deepen`). The cross-validation may choose a lower depth.""",
        "max_leaves": "Largest number of leaves.",
        "min_cases": """At least two branches of a split must each hold this weight of cases. The search does not know
        of it: if its tree breaks the rule, some others are searched for, all are cut back, and the cheapest is kept,
        which is not proven; `bound_` still holds. None: branches may hold single cases.""",
        "weighting": SEVERAL,
        "time_limit": """Seconds after which the search ends with the best tree so far; up to half of them are for the
        choice of the settings. If the table has more than 125,000 cells (cases times columns) per second of the limit,
        a random part of the cases is used. None: the search ends after as much work as takes about a minute, so that
        the tree is the same on every machine; set a long time for a proof that takes longer. After Ctrl-C, `fit` raises
        KeyboardInterrupt; the learner then holds the best tree so far.""",
        "callback": """Called several times a second with a `Progress` that has the cost of the best tree and the lower
        bound. If it returns True, the search ends.""",
        "random_state": "Makes the soft labels and the folds repeatable.",
    },
    "ICETClassifier": {
        "variant": """"paper": the published algorithm; a trial grows one tree on a random half of the cases and
        measures its cost on the other half, and the cheapest trial wins. "refined": all individuals are compared by
        cross-validation on the same folds, the best of them, and "no test at all", again on fresh folds; the search
        ends when nothing better is found. Trees are pruned by total cost, use prices in context and give the cheapest
        answers; their depth is part of the search. A cross-validation decides whether to learn from the cases' own
        labels or from soft labels by a random forest and a logistic regression; with soft labels, their weight is part
        of the search, and the winner must be clearly cheaper than EG2 on them.""",
        "weighting": SEVERAL,
        "time_limit": """Seconds after which the search ends with the best individual so far. "refined": a fifth of the
        time is kept for the final comparison; making the soft labels is not cut short, and is skipped if less than 1 s
        plus 1 s per 1,000 cases is left. After Ctrl-C, `fit` raises KeyboardInterrupt; if a generation was complete,
        the learner then holds the best tree so far, without a final comparison.""",
        "min_cases": SEARCHED_MIN_CASES,
        "callback": """Called with a `Progress` after each generation. If it returns True, the search ends with the best
        individual so far, without a final comparison.""",
        "random_state": "Makes the search repeatable.",
        "n_jobs": WORKERS,
    },
    "AutoClassifier": {
        "cap": """The most that the tests of any case may cost, whatever its values: common prices, surcharges, what a
        test commits to and waiting included. With 0, only free tests are used. None: no limit.""",
        "weighting": SEVERAL,
        "nominal_splits": """How trees ask nominal tests. "multiway": a branch for every value. "subset": two branches,
        for some values and for the rest. "both": whichever is better; DTMC has a branch for every value.""",
        "min_cases": """At least two branches of a split of a tree must each hold this weight of cases. Exact trees
        follow it if it is above 2 (see `OptimalClassifier`).""",
        "max_leaves": "Largest number of leaves of a tree.",
        "time_limit": """Seconds. Three fifths of them are for trying, the rest for the last fit. None: about a minute
        for up to 5,000 cases and 60 tests, on two processors. After Ctrl-C, `fit` raises KeyboardInterrupt; the learner
        then holds the best model so far.""",
        "callback": """Called with a `Progress` after every model; its `cost` is that of the best learner so far. If it
        returns True, nothing else is tried.""",
        "random_state": "Makes the choice and the model repeatable.",
    },
    "CascadeClassifier": {
        "budget": """What the tests may cost per case, on average. The rate between prices and error costs is then
        chosen so that it is kept on the training cases, out of fold. None: prices and error costs are in the same
        unit.""",
        "weighting": """"instance": each case weighs as much as it costs to misclassify it, in the models (Ting 1998);
        the answer is then the most probable class. None: all cases weigh the same, and the answer is the one with the
        lowest expected error cost.""",
        "nominal": """Numeric columns to treat as categories. Columns of strings, categories and booleans are always
        nominal.""",
        "time_limit": """Seconds after which no further model is fitted. If the table has more than 500,000 cells
        (cases times columns) per second of the limit, a random part of the cases is used. After Ctrl-C, `fit` raises
        KeyboardInterrupt; the learner then holds the cascade of the models fitted so far.""",
        "callback": """Called with a `Progress` after every model; its `cost` is that of the best single set so far. If
        it returns True, no further model is fitted.""",
        "random_state": "Makes the models repeatable.",
    },
    "BudgetForestClassifier": {
        "variant": """"paper": the published forest; without a budget, `max_trees` trees, whatever they cost.
        "refined": the forest of least total cost, which has no budget. None: "paper" with a budget, otherwise
        "refined". Without a budget, `alpha`, `impurity`, `power`, `splits`, `sampling`, `tests`, `context` and
        `adaptive` need "paper": else total cost decides.""",
        "nominal_splits": """How nominal tests are asked. "multiway": a branch for every value. "subset": two branches,
        for some values and for the rest. "both": at each node, whichever has the shorter description. None:
        "multiway" in the published forest, otherwise "subset".""",
        "nominal": """Numeric columns to treat as categories. Columns of strings, categories and booleans are always
        nominal; ordered categories are cut like numbers.""",
        "weighting": """"instance": each case weighs as much as it costs to misclassify it, in growing (Ting 1998).
        None: all cases weigh the same.""",
        "context": """True: in growing, a test that is paid for on the path is free, and a group's common price counts
        once. False: list prices.""",
        "max_depth": "Longest path from the root of a tree to a leaf, at most 4096.",
        "answer": """"majority": the class with the most votes, as in the paper. "least-cost": the answer with the
        lowest expected error cost, by the mean class shares of the leaves (`predict_proba`); reject answers
        count, too. None: "least-cost" if there is no `weighting`; in the published forest, if also the costs of errors
        differ.""",
        "time_limit": """Seconds after which `fit` ends, from its call on. The tree being grown is cut short, and used
        only if there is no other. If the table has more than 500,000 cells (cases times columns) per second of
        the limit, the forest is grown and validated on a random part of the cases.""",
        "callback": """`fit` calls it with a `Progress` after every tree; without a budget, after some trees. If it
        returns True, `fit` grows no more trees.""",
        "random_state": "Makes the forest repeatable.",
        "n_jobs": WORKERS,
    },
}

SOFT_LABEL_WEIGHT = ("float", "Share of soft labels in the labels that the tree was grown from.")

# Attributes beside those of all learners: class -> names -> (type, description).
INTERVAL = ("(float, float)", "The 95 % confidence interval of `expected_cost_`.")
ATTRIBUTES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "C45CSClassifier": {
        "soft_label_weight_": SOFT_LABEL_WEIGHT,
        "preset_": ("dict", "Values that the chosen preset uses instead of the given parameters."),
    },
    "ACTClassifier": {
        "history_": (
            "list of Progress",
            """Seconds, samples per branch (`done`) and expected cost of each tree that was better than those before it.
            It starts again when the search changes how it values trees.""",
        ),
        "stopped_": ('{"done", "time limit", "callback", "interrupted"}', "Why the search ended."),
        "r_": ("int", "Samples per branch of the tree's look-ahead; 0: it was grown without look-ahead."),
        "soft_label_weight_": SOFT_LABEL_WEIGHT,
        "omega_, confidence_": ("float", "The values that were used."),
    },
    "OptimalClassifier": {
        "objective_": (
            "float",
            "What the tree costs per training case, by the labels it was learned from, with the prices of its leaves.",
        ),
        "bound_": (
            "float",
            "No tree within the limits has a lower objective. One that was grown beyond `max_depth` may.",
        ),
        "gap_": ("float", "What another tree within the limits could save at most. 0: proven, or nothing."),
        "proven_": ("bool", "Whether no tree within the limits has a lower objective."),
        "near_optimal_": (
            "NearOptimalSummary or None",
            """How many trees cost little more than the best one, and what they have in common. None: not counted.""",
        ),
        "leaf_price_": ("float", "The price per leaf that was used."),
        "soft_label_weight_": SOFT_LABEL_WEIGHT,
        "history_": ("list of Progress", "Seconds, cost and bound, whenever one of them has changed."),
        "stopped_": (
            '{"done", "work limit", "time limit", "callback", "interrupted"}',
            'Why the search ended. "done": the tree is proven, unless `min_cases` has cut it.',
        ),
    },
    "ICETClassifier": {
        "bias_": (
            "dict of str to float",
            """The price of each test that EG2 is given; infinite: the test is not used. "refined": scaled to a mean
            price of 10, so that the currency does not matter.""",
        ),
        "omega_": ("float", "How strongly EG2 weighs the biases."),
        "confidence_": ("float", "Confidence level of the pruning."),
        "max_depth_": ("int or None", """Longest path from the root to a leaf ("refined")."""),
        "soft_label_weight_": SOFT_LABEL_WEIGHT,
        "reject_below_": (
            "float",
            """"paper" with a reject answer in `errors`: a leaf whose majority class has a smaller share of its training
        cases gives the reject answer, as Turney proposes in section 5.2. Otherwise 0: "refined" rejects where that
        costs least, and without a reject answer nobody does.""",
        ),
        "fitness_": (
            "float",
            "Cost per case of the winner in its trials; infinite, if the time was too short for a single trial.",
        ),
        "history_": (
            "list of Progress",
            """Seconds, trials so far (`done`), lowest cost and mean cost after each generation. `save` writes the tree,
            but neither this nor the winner's biases.""",
        ),
        "stopped_": (
            '{"converged", "trials", "time limit", "callback", "interrupted"}',
            """Why the search ended. "converged" ("refined"): no better individual in 20 generations, or in 5 with soft
            labels.""",
        ),
    },
    "AutoClassifier": {
        "best_estimator_": ("learner", "The chosen learner, fitted to all cases. Its attributes are here, too."),
        "candidates_": (
            "list of Candidate",
            """What was tried, the cheapest first: name, expected cost, interval, seconds, rounds, and whether it was
            chosen.""",
        ),
        "expected_cost_": (
            "float",
            """What a new case is expected to cost, tests and errors together, measured on cases left out in training;
            the choice itself included.""",
        ),
        "expected_cost_interval_": INTERVAL,
        "stopped_": (
            '{"done", "time limit", "callback", "interrupted"}',
            "Why trying learners ended.",
        ),
    },
    "CascadeClassifier": {
        "stages_": (
            "list of tuple of str",
            """The sets of tests, from few to many. Every case begins with the first, which costs nothing, and ends in
            one of them.""",
        ),
        "expected_cost_": (
            "float",
            "What a new case is expected to cost, tests and errors together, measured out of fold.",
        ),
        "expected_cost_interval_": INTERVAL,
        "base_": ("str or classifier", 'The kind of models that are used: "forest", "boosting" or "both".'),
        "stopped_": (
            '{"done", "time limit", "callback", "interrupted"}',
            "Why fitting models ended.",
        ),
        "feature_importances_": (
            "array",
            "Share of each test in what the tests of all sets tell a random forest.",
        ),
    },
    "BudgetForestClassifier": {
        "expected_cost_": (
            "float",
            "What a new case is expected to cost, tests and errors together, measured on the validation cases.",
        ),
        "expected_cost_interval_": INTERVAL,
        "trees_": ("list of Tree", "The trees that are consulted, in this order."),
        "empty_": (
            "bool",
            """Whether there is no tree, because no test is worth its price, or the first tree exceeds the budget (`fit`
            warns). Then every case gets the same answer, the cheapest or with majority votes the most frequent class,
            and nothing is paid.""",
        ),
        "alpha_": (
            "float",
            """The value of `alpha` (or `power`) that was chosen; in the forest of least total cost, the number of cases
            that a node must exceed to be split.""",
        ),
        "tests_": ("list of str", "The tests that the trees may ask for."),
        "sampling_": ("str", "How cases were drawn."),
        "rate_": (
            "float or None",
            "With ``adaptive=True``: how many units of error cost one unit of price counts for.",
        ),
        "stopped_": (
            '{"done", "time limit", "callback", "interrupted"}',
            """Why growing ended. After Ctrl-C, `fit` raises KeyboardInterrupt; the learner then holds the trees grown
            so far, if there was one.""",
        ),
        "record_": ("BudgetRecord", "What the forest costs on the validation cases."),
        "max_cost_bound_": (
            "float or None",
            """In each tree of the published forest, the most expensive training case pays at most this many times as
            much as in the best tree with pure leaves (theorem 2.2). None where the theorem says nothing: it needs
            nominal tests without missing values, each with a price of its own, and ``splits="minimax"``. Not saved.""",
        ),
        "forests_": (
            "list of Forest",
            "The forests for all values of `alpha` (or `power`) and all sets of tests, with their validation curves.",
        ),
    },
}

TREE = {
    "tree_": ("Tree", "The learned tree."),
    "expected_cost_": (
        "float",
        "What a new case is expected to cost, tests and errors together, measured out of fold.",
    ),
    "expected_cost_interval_": INTERVAL,
    "leaf_limit_": (
        "LeafLimit or None",
        """With `max_leaves`: number of leaves and expected cost with (`leaves`, `cost`) and without (`full_leaves`,
        `full_cost`) the limit. Not saved.""",
    ),
}
EVERY = {
    "classes_": ("array", "The classes, sorted."),
    "feature_importances_": (
        "array",
        "Share of each test in what all tests save in error costs on the training cases.",
    ),
    "n_features_in_": ("int", "Number of columns of X."),
    "feature_names_in_": ("array of str", "Names of the columns of X, if it has names."),
}


def sections(learner: type[Any]) -> dict[str, list[str]]:
    """Return the lines of the two sections of a learner."""
    defaults = {field.name: field.default for field in fields(learner)}
    if unknown := defaults.keys() - PARAMETERS.keys():
        raise ValueError(f"docs/write_parameters.py does not describe {', '.join(unknown)} of {learner.__name__}")
    own, parameters, attributes = OWN.get(learner.__name__, {}), list[str](), list[str]()
    for name, (kind, text) in PARAMETERS.items():
        if name in defaults:
            parameters += _entry(f"{name} : {_type(name, kind, defaults[name])}", own.get(name, text))
    tree = TREE if issubclass(learner, TreeClassifier) else {}
    if learner.__name__ == "OptimalClassifier":  # looks at no tree with more leaves
        tree = {name: text for name, text in tree.items() if name != "leaf_limit_"}
    every = {name: text for name, text in EVERY.items() if name not in attributes_of(learner)}
    for name, (kind, text) in (tree | attributes_of(learner) | every).items():
        attributes += _entry(f"{name} : {kind}", text)
    return {"Parameters": parameters, "Attributes": attributes}


def attributes_of(learner: type[Any]) -> dict[str, tuple[str, str]]:
    """Return the attributes that only this learner has."""
    return dict(ATTRIBUTES.get(learner.__name__, {}))


def _type(name: str, kind: str, default: Any) -> str:
    if kind == CHOICES:
        kind = "{" + ", ".join(json.dumps(option.strip("'")) for option in RULES[name].options) + "}"
    if default is None:
        return f"{kind}, optional"
    if RULES.get(name) is not None and RULES[name].optional:
        kind += " or None"
    return f"{kind}, default {json.dumps(default) if isinstance(default, str) else default}"


def _entry(head: str, text: str) -> Iterator[str]:
    if not text:
        raise ValueError(f"docs/write_parameters.py has no description of {head}")
    yield f"    {head}"
    indent = " " * 8
    yield from textwrap.wrap(
        " ".join(text.split()), WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def current(path: Path, learners: list[type[Any]]) -> str:
    """Return the text of a source file with the two sections as they should be."""
    text = path.read_text(encoding="utf-8")
    classes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)}
    lines = text.split("\n")
    for learner in sorted(learners, key=lambda learner: -classes[learner.__name__].lineno):  # from the bottom up
        docstring = classes[learner.__name__].body[0]
        first, last = docstring.lineno - 1, docstring.end_lineno or 0
        lines[first:last] = _replaced(lines[first:last], sections(learner))
    return "\n".join(lines)


def _replaced(docstring: list[str], new: Mapping[str, list[str]]) -> list[str]:
    """Return a docstring with these sections right below the introduction."""
    underlines = [i for i, line in enumerate(docstring) if line.strip() and not line.strip(" -")]
    starts = [*(i - 1 for i in underlines), len(docstring) - 1]  # the last line has the quotes
    kept = [docstring[start:end] for start, end in pairwise(starts) if docstring[start].strip() not in new]
    found = docstring[: starts[0]]
    for title, entries in new.items():
        found += [f"    {title}", "    " + "-" * len(title), *entries, ""]
    return [*found, *(line for section in kept for line in section), docstring[-1]]


def files() -> dict[Path, list[type[Any]]]:
    """Return the source files with the learners in them."""
    found: dict[Path, list[type[Any]]] = {}
    for learner in LEARNERS.values():
        found.setdefault(SOURCE.joinpath(*learner.__module__.split(".")).with_suffix(".py"), []).append(learner)
    return found


def parameter_table() -> str:
    """Return the parameters that `worthwhile learn --set` takes: name, values, default and learners, by tabs."""
    defaults: dict[str, dict[str, Any]] = {}
    for name in COMMANDS:
        for parameter in fields(find_learner(name)):
            if parameter.name not in OPTIONS:
                defaults.setdefault(parameter.name, {})[name] = parameter.default
    lines = ["name\tvalues\tdefault\tlearners"]
    for parameter, by_learner in sorted(defaults.items()):
        rule = RULES[parameter]
        options = [_typed(option) for option in rule.options if not option.startswith("a pair")]
        if "none" not in options and (rule.optional or None in by_learner.values()):
            options.append("none")
        shown = {name: _typed(repr(default)) for name, default in by_learner.items()}
        usual = max(shown.values(), key=list(shown.values()).count)
        unusual = {text: [name for name in shown if shown[name] == text] for text in shown.values() if text != usual}
        cell = "; ".join([usual, *(f"{text} ({', '.join(names)})" for text, names in unusual.items())])
        others = [name for name in COMMANDS if name not in by_learner]
        having = f"all but {', '.join(others)}" if 0 < len(others) < 3 else ", ".join(by_learner) if others else "all"
        lines.append(f"{parameter}\t{enumeration(options, 'or')}\t{cell}\t{having}")
    return "\n".join(lines) + "\n"


def _typed(text: str) -> str:
    """Return a value as it is typed on a command line."""
    if text in ("True", "False", "None"):
        return text.lower()
    return ",".join(part.strip("' ") for part in text[1:-1].split(",")) if text[:1] in "[(" else text.replace("'", "")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="write the docstrings")
    write = parser.parse_args().write
    stale = {path: text for path, learners in files().items() if (text := current(path, learners)) != path.read_text()}
    if parameter_table() != TABLE.read_text():
        stale[TABLE] = parameter_table()
    for path, text in stale.items():
        print(path.relative_to(SOURCE))
        if write:
            path.write_text(text, encoding="utf-8")
    return 0 if write else min(len(stale), 1)


if __name__ == "__main__":
    sys.exit(main())
