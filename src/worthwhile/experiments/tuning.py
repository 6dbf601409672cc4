"""Where the constants of our own learners were set. Every table names the sets beside the results.

A learner may look good on the data that its constants were set on, even on other splits of them. Published algorithms
have the constants of their papers and are not listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["SET_ON", "named"]

TURNEY = "other splits (100 and up) of Turney's bupa, heart, hepatitis, pima and thyroid"
CASCADE = "pima, heart, waveform40, vote, car, tic_tac_toe, glass, vowel"

# By the class: what docs/design says about its constants.
SET_ON: Mapping[str, str] = {
    "ICETClassifier": f"{TURNEY}; where it learns from the cases' own labels, also folds of multi-xor, xor-5, car,"
    " tic-tac-toe, wine and monks-1",
    "ACTClassifier": f"{TURNEY}; how it chooses its labels, also on six other sets, vote and car among them; how"
    " probabilities are shrunk, also on tic_tac_toe, german_credit, glass, lymphography, sonar, iris, wine,"
    " breast_wisconsin, solar_flare1, soybean_large and annealing",
    "OptimalClassifier": (
        "german_credit, credit_approval_crx, ionosphere, wdbc, horse_colic, lymphography, vowel, vote, monks 1 to 3,"
        " titanic, tae, satimage, dna, splice, letter, sonar and adult; the boosting of its soft labels also on car,"
        " glass, soybean, tic-tac-toe and nursery; the price of a leaf with more than 1,200 cases with a look at"
        " nursery, shuttle, adult, credit default, covtype, waveform40 and nettalk"
    ),
    "AutoClassifier": f"{CASCADE}; parts of it with a look at german_credit, satimage, optdigits, adult, dna_statlog,"
    " letter, krk, abalone and nursery; when it reconsiders, at credit default; since 2026-11-19 its rules at vote,"
    " glass, horse_colic, credit_approval_crx, heart and pima; its trees as those of ACTClassifier, ICETClassifier and"
    " OptimalClassifier (so shuttle and covtype, too), its cascades as those of CascadeClassifier",
    "CascadeClassifier": f"{CASCADE}, soybean, abalone, nursery; its boosting also with a look at krk and adult,"
    " its budgets at test cases of adult, Forest and credit default",
    "C45CSClassifier, chosen": "trials 200 and up of Vowel, Glass, Soybean, Lympho, Wave, Anneal, Splice and Abalone",
    "BudgetForestClassifier": "these very data sets, with a look at the test cases of split 0; kinds of splits also"
    " with a look at pima, heart, waveform40, vote, car, satimage and optdigits",
}


def named(labels: Mapping[str, str], shown: Iterable[str]) -> dict[str, str]:
    """Return, for the rows shown, where the constants of their learners were set.

    Parameters
    ----------
    labels : mapping
        The learner (a key of `SET_ON`) of each row that is our own.
    shown : iterable of str
        The rows of a table.

    Examples
    --------
    >>> named({"exact": "OptimalClassifier"}, ["C4.5", "exact"])["exact"].split(",")[0]
    'german_credit'
    """
    return {label: SET_ON[labels[label]] for label in shown if label in labels}
