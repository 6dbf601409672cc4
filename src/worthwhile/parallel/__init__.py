"""Coarse work on threads, processes or a cluster."""
