"""From a base relation to a guarded, recounted, published release.

`releasing` has the whole sequence, each step is a module beside it; `declaration` records what columns are.
Everything here acts as the owner role, after the caller's own rights were checked. A worker solves.
"""
