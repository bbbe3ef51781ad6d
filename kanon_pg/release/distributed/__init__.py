"""Releases of tables that Citus distributes over nodes.

Their storage is a distributed table that no role but the owner's reaches: `storage` fills it on the nodes,
counts the classes on what was stored and removes the small ones; `placement`
decides which releases are stored so.
"""
