"""A connection whose cursors run queries on protected and public tables, for programs.

The rules are kept in the server, by the functions behind ``kanon_query``; this module gives their answers the
form that programs expect of a database driver (PEP 249).

Examples
--------
>>> import kanon_pg
>>> with kanon_pg.connect("dbname=clinic") as connection:  # doctest: +SKIP
...     connection.execute("SELECT count(*) FROM patients WHERE ward = %s", ("Oncology",)).fetchone()
(412,)
"""

from kanon_pg.dbapi.connection import Connection, Cursor, connect

__all__ = ["Connection", "Cursor", "connect"]
