"""The independent recount of every solution, and of the prices that prove a bound.

`recount` counts solutions, `certificate` checks prices: no class that could be formed
may cost less than the prices of its rows. What models demand of classes is in `class_demands`, the costliest
class under the demands in `demanded_classes` and, for a distance, `classes_within_distance`. Whole numbers,
cell by cell. It shares nothing with the solvers but the row types; a solution that fails here never leaves
the worker.
"""
