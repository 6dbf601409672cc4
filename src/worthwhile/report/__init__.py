"""A report on a model as one HTML file that needs nothing else and opens from disk.

It holds: a summary in money against simple ways to decide; the tree; a walk-through, in which a person answers question
by question and sees the next test, its price and the answer (the same JSON as the saved model, and the same rules);
where the money goes; break-even prices; the cases that cost most; the price list.
"""

from worthwhile.report.page import write_report
from worthwhile.report.tree_image import tree_picture

__all__ = ["tree_picture", "write_report"]
