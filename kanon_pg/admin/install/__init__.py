"""Installs the SQL objects into a database, removes them, and proves that they work.

`installer` and `uninstaller` are the ways in, `extension` writes the files of CREATE EXTENSION; `facts` is
what is found before, `scripts` what is run. The SQL itself is in ``sql/``, and nothing here reads users'
tables.
"""
