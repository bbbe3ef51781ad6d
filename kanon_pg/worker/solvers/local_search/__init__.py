"""Moves that lower the cost of a solution in a fraction of a second.

`improvement` is the way in, `sweep` finds moves and `moves` makes them on the classes of `partition`.
Every class keeps k people and its privacy models after each move; nothing is made worse to get better
later.
"""
