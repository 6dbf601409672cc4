"""A decision tree with prices: its nodes and JSON, the path of one case through it, and how it is shown."""

from worthwhile.tree.advice import Advice
from worthwhile.tree.explanation import Explanation
from worthwhile.tree.run import Outcome
from worthwhile.tree.tree import Tree

__all__ = ["Advice", "Explanation", "Outcome", "Tree"]
