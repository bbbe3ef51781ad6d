"""Flows and integer programs on parts of a solution, and the search that combines them.

`refine` is the way in; `diving` makes solutions from prices, `flow` and `regions` improve them. A clock
ends each, and `refine` never returns anything worse than it was given.
"""
