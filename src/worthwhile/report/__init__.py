"""A report on a model: one self-contained HTML file that opens from disk.

It shows the costs of the model compared with simple baselines, the tree, a walk-through of one case (enter test
results; see the next test, its price and finally the answer), where the money goes, break-even prices, the most
expensive cases and the price list. The walk-through reads the JSON of the saved model and gives the same advice as
`next_test`.
"""

from worthwhile.report.page import write_report
from worthwhile.report.tree_image import tree_picture

__all__ = ["tree_picture", "write_report"]
