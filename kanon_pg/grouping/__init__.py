"""Generalizes one column of a relation: counts its values, has a worker group them, and names the classes.

With the caller's rights; changes nothing. How groups are found is in `kanon_pg.worker.grouping`.
"""
