"""What backends, clients and workers agree on: requests, packed row types, hierarchies as data, outcomes.

Standard library only, and no database: a backend imports it in every session, and a client without compiled
packages can. What computes with arrays belongs to `kanon_pg.worker`.
"""
