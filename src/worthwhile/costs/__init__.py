"""Prices of tests and costs of errors: `Costs`, `Test`, pricing of test sets, and price lists in files."""

from worthwhile.costs.costs import Costs, Prices
from worthwhile.costs.price_list import Test
from worthwhile.costs.surcharges import Surcharge

__all__ = ["Costs", "Prices", "Surcharge", "Test"]
