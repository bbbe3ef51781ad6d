"""A generated hospital, and what kanon_pg does to its table, step by step.

`patients` makes the table, `story` has the steps. Only ``kanon demo`` uses it.
"""
