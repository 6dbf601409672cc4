"""Cascades: models on growing sets of tests, and a rule that says when to answer (docs/design/cascades.md)."""
