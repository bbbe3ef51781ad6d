"""A generated hospital, and what kanon_pg does to its table, step by step.

`patients` makes the table, `scene` is what a step consists of, `story` has the steps. Only ``kanon demo``
uses it.
"""
