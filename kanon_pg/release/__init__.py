"""From a base relation to a guarded, recounted, published release.

`releasing` has the operations. Below are `plan`, `declare` and `publish`, `series`, `compare`; each imports
from those before it alone.
Everything here acts as the owner role, after the caller's own rights were checked. A worker solves.
"""
