"""The greedy heuristic, the order in which it tries patterns, and the rest that it leaves."""
