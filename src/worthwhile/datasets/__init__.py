"""Data sets with prices: three that come with the package, others from a folder of CSV files, and made-up ones.

`load` returns a `Dataset`: the cases, their classes, the price list and a description. ``heart``, ``bupa`` and
``pima`` are bundled, with the prices of Turney (1995), Appendix A. The names of `TURNEY`, ``turney-bupa`` and so on,
are the five problems of that paper, prepared as it says; ``turney-bupa`` and ``turney-pima`` are made from bundled
data, the others from the files ``heart_cleve_mod``, ``hepatitis`` and ``thyroid_ann_train`` of the folder. Every other
name is looked up in the folder that the environment variable ``WORTHWHILE_DATA`` names, as ``NAME.csv`` or
``NAME.csv.gz``:

- comma separated, UTF-8, one header row, the class in the last column, which is called ``class``;
- an empty field or a lone ``?`` is a missing value (in ``annealing``, ``?`` is a value like others);
- a column whose values are all numbers is numeric, any other is nominal. `_FACTS` lists the data sets where integers
  are codes, and the columns that are no tests;
- ``costs/turney1995_test_costs.csv`` in the folder holds the prices of Turney's data sets. The tests of the others are
  free and every wrong answer costs 1.

`make` draws the cases of a made-up problem; `random_costs` draws a price list for data that have none.
"""

from worthwhile.datasets.loading import CONCEPTS, FOLDER_VARIABLE, TURNEY, Dataset, load, make, names
from worthwhile.datasets.random_prices import random_costs

__all__ = ["CONCEPTS", "FOLDER_VARIABLE", "TURNEY", "Dataset", "load", "make", "names", "random_costs"]
