"""Queries about protected tables: what the server's backend, or a trusted client, runs for each of them.

The modules here load the catalog, have `check` decide, lock and read the tables once, send the sets of
people to the ledger's worker and form the answer; `kanon_pg.plpython`, `kanon_pg.client` and
`kanon_pg.gateway` call them. No array library and no worker code may be imported here, and no SQL text of an
analyst may reach the server.
"""
