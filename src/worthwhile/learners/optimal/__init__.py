"""Trees of provably least cost."""
