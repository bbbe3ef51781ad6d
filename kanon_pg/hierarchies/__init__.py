"""Generalization hierarchies: built over columns, read from tables and files, stored in the database.

A builder is a function from the values of a column and its keys (`inputs`) to a hierarchy; `build` has the
short ones and all of them by name, `intervals` and `dates` the others. `operations` is the way in. What
backends and workers need of a hierarchy is in `kanon_pg.core.hierarchy`; no solver is here.
"""
