"""Tables in and out over a psycopg connection: CSV files into PostgreSQL, releases into files and scripts.

The command, the client and the demo use it; pyarrow, an extra, is imported here and in no backend. A script
needs no extra: it imports neither the modules of files nor that library.
"""
