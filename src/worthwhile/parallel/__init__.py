"""Independent pieces of work on threads, processes or a cluster."""
