"""Moves that lower the cost of a solution in a fraction of a second."""
