"""The greedy heuristic, and the rest that it leaves.

`heuristic` is the way in, `scan` groups row types for it, `rest` sees to those that found no class. It
makes a first solution; what improves one is in other folders.
"""
