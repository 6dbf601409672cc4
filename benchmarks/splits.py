"""Expected against minimax splits of the published forest (Nan, Wang & Saligrama 2015, section 2.4).

    WORTHWHILE_DATA=folder python benchmarks/splits.py --page docs/results/splits.md

A minimax split lowers the impurity of its worst branch most for its price, an expected split that of its branches on
average. Forests of 20 trees (`BudgetForestClassifier(variant="paper", answer="majority")`), 60 % of at most 2,000 cases
to learn from and to validate with, the others to measure; prices of 1 for every test, or drawn (`random_costs`, without
groups). *Mean* and *highest* are what a new case pays on average and at most, in percent of all tests together.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from common import provenance

SETS = (
    "pima",
    "heart_cleveland",
    "vote",
    "car",
    "tic_tac_toe",
    "glass",
    "vowel",
    "ionosphere",
    "wdbc",
    "german_credit",
)
SPLITS, MOST_CASES, TREES = ("minimax", "expected"), 2_000, 20
ALPHAS = (0, 8)


def measure(name: str, prices: str, alpha: int, splits: str, seed: int) -> tuple[float, float, float]:
    """Return the mean and the highest price of a new case, and the share of errors, in percent."""
    from sklearn.model_selection import train_test_split

    import worthwhile as ww

    data = ww.datasets.load(name, as_frame=False)
    rows = np.random.default_rng(seed).permutation(len(data.y))[:MOST_CASES]
    X, X_new, y, y_new = train_test_split(data.X[rows], data.y[rows], test_size=0.4, random_state=seed)
    known: dict[str, Any] = {"nominal": data.nominal, "columns": data.feature_names}
    costs = ww.Costs(tests=dict.fromkeys(data.feature_names, 1.0))
    if prices == "drawn":
        costs = ww.datasets.random_costs(X, y, groups=0.0, random_state=seed, **known)
    forest = ww.BudgetForestClassifier(
        variant="paper",
        answer="majority",
        costs=costs,
        budget=costs.total_price(),
        alpha=alpha,
        splits=splits,
        sampling="drawn",
        max_trees=TREES,
        random_state=seed,
        **known,
    ).fit(X, y)
    answers, paid = forest.predict_with_prices(X_new)
    whole = costs.total_price()
    return 100 * paid.mean() / whole, 100 * paid.max() / whole, 100 * float((answers != y_new).mean())


def page(rows: dict[tuple[str, str, int], dict[str, Any]], seeds: int) -> str:
    """Return the results as Markdown."""
    from worthwhile.experiments.page import mean_interval

    heads = [f"{what}, {splits}" for what in ("mean", "highest", "errors") for splits in SPLITS]
    lines = ["# Expected against minimax splits", "", (__doc__ or "").split("\n\n", 2)[2].strip(), ""]
    lines += [f"{seeds} splits each. Nothing was tuned; α = 0 and 8 are two of the paper's values.", "", "FINDINGS", ""]
    lines += [f"| data, prices, α | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
    for (name, prices, alpha), found in rows.items():
        numbers = [found[splits][measured] for measured in range(3) for splits in SPLITS]
        lines.append(f"| {name}, {prices}, {alpha} | {' | '.join(f'{number:.1f}' for number in numbers)} |")
    told = []
    for prices in ("unit", "drawn"):
        for alpha in ALPHAS:
            some = [found for (_, p, a), found in rows.items() if (p, a) == (prices, alpha)]
            gaps = [mean_interval([f["expected"][i] - f["minimax"][i] for f in some]) for i in range(3)]
            told.append(f"| {prices}, α = {alpha} | {gaps[0]} | {gaps[1]} | {gaps[2]} |")
    table = [
        "Expected less minimax, mean over the data sets with the 95 % interval, in points: below 0, expected splits"
        " cost less, or err less.",
        "",
        "| prices | mean price | highest price | errors |",
        "|---|---:|---:|---:|",
        *told,
    ]
    return "\n".join([*lines, "", provenance()]).replace("FINDINGS", "\n".join(table)) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--page", type=Path, default=None, help="write the results as Markdown")
    options = parser.parse_args()
    rows: dict[tuple[str, str, int], dict[str, Any]] = {}
    for name in SETS:
        for prices in ("unit", "drawn"):
            for alpha in ALPHAS:
                rows[name, prices, alpha] = {
                    splits: np.mean(
                        [measure(name, prices, alpha, splits, seed) for seed in range(options.seeds)], axis=0
                    )
                    for splits in SPLITS
                }
        print(name, flush=True)
    if options.page is not None:
        options.page.write_text(page(rows, options.seeds))


if __name__ == "__main__":
    main()
