"""How private, and how useful, a relation is: figures of its equivalence classes, counted in SQL.

`measures` defines the figures, `classes` counts what they are made of. With the caller's rights; changes
nothing.
"""
