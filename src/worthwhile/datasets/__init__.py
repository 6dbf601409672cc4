"""Data sets with prices: three bundled with the package, others from a folder of CSV files, and synthetic ones.

`load` returns a `Dataset`: the cases, their classes, the price list and a description. ``heart``, ``bupa`` and
``pima`` are bundled, with the prices of Turney (1995), Appendix A. The names of `TURNEY`, ``turney-bupa`` and so on,
are the five problems of that paper, prepared as described there; ``turney-bupa`` and ``turney-pima`` are made from
bundled data, the others from the files ``heart_cleve_mod``, ``hepatitis`` and ``thyroid_ann_train``. ``thyroid-fti`` is
``turney-thyroid`` with the test FTI, which is computed from two others. Any other name is a
file ``NAME.csv`` or ``NAME.csv.gz`` in the folder given by the environment variable ``WORTHWHILE_DATA``:

- comma separated, UTF-8, one header row, with the class in the last column, called ``class``;
- an empty field or ``?`` is a missing value (in ``annealing``, ``?`` is an ordinary value);
- a column with only numbers is numeric, any other is nominal. `_FACTS` lists the data sets in which integers are codes
  of categories, and the columns that are not tests;
- ``costs/turney1995_test_costs.csv`` in the folder has the prices of Turney's data sets. For all others tests are free
  and every wrong answer costs 1.

`load_streed` reads pystreed's benchmark of problems with prices from the subfolder ``streed_costs``, with its fixed
splits. `make` draws the cases of a synthetic problem; `random_costs` draws a price list for data without prices.
"""

from worthwhile.datasets.loading import CONCEPTS, FOLDER_VARIABLE, TURNEY, Dataset, load, make, names
from worthwhile.datasets.random_prices import random_costs
from worthwhile.datasets.streed import STREED, STREED_LEVELS, StreedDataset, load_streed

__all__ = [
    "CONCEPTS",
    "FOLDER_VARIABLE",
    "STREED",
    "STREED_LEVELS",
    "TURNEY",
    "Dataset",
    "StreedDataset",
    "load",
    "load_streed",
    "make",
    "names",
    "random_costs",
]
