"""The greedy heuristic, and the rest that it leaves."""
