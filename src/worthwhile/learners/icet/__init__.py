"""ICET: a genetic search for the prices EG2 is given."""
