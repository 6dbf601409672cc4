"""Prices of tests and costs of errors: `Costs`, `Test`, what a set of tests costs, and price lists in files."""

from worthwhile.costs.costs import Costs, Prices
from worthwhile.costs.price_list import Test

__all__ = ["Costs", "Prices", "Test"]
