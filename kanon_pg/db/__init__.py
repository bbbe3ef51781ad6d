"""One small database protocol and its two adapters: plpy inside the server, psycopg outside.

Beside them what both need: facts of the catalog, quoting, named statements, the description of operations.
What operations do is in the services above; nothing here knows roles of columns or releases.
"""
