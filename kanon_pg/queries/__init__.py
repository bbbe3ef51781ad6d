"""Queries about protected tables: what the server's backend, or a trusted client, runs for each of them.

A text is cut into blocks (`reading`), whose people and forms are checked (`people`); they are counted
(`counting`) or get noise (`noise`), and are compared and recorded (`record`); `answering` has the path.
`kanon_pg.plpython`, `kanon_pg.client` and `kanon_pg.gateway` call them. No array library and no worker code
may be imported here, and no SQL text of an analyst may run with more rights than the analyst has.
"""
