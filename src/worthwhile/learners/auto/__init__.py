"""A learner that chooses among the others by what new cases cost."""
