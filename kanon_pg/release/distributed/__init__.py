"""Releases of tables that Citus distributes over nodes.

Their storage is a distributed table that no role but the owner's reaches: `storage` decides which releases
are stored so, fills it on the nodes, counts the classes on what was stored and removes the small ones;
`nodes` refuses where the nodes do not answer the owner role, or answer others.
"""
