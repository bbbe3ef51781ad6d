"""Lower bounds that are proven without a search.

`reach` takes a fraction of a second, `prices` begins there and climbs by `lagrangian`. Nothing here makes
a solution; what prices prove is checked in whole numbers by `kanon_pg.worker.verification`.
"""
