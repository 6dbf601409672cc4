"""Random forests within a budget."""
