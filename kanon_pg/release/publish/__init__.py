"""From a plan to what stands behind a release.

`building` has the sequence: `solving` counts and solves, `storage` and `node_tables` store (on nodes `shards`
does), `recount` counts again, `report` records. `view` shows a release; `remembering` keeps its versions.
"""
