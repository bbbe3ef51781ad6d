"""Queries about protected tables: what the server's backend, or a trusted client, runs for each of them.

The modules here cut a text into blocks, load the catalog, lock and read the tables once, compare and record
what the blocks found, and leave the rest of the text to the analyst; `answering` has the whole path.
`kanon_pg.plpython`, `kanon_pg.client` and `kanon_pg.gateway` call them. No array library and no worker code
may be imported here, and no SQL text of an analyst may run with more rights than the analyst has.
"""
