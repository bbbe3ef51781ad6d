"""Tables in and out over a psycopg connection: CSV files into PostgreSQL, releases into CSV and Parquet.

The command and the demo use it; pyarrow, an extra, is imported here and in no backend.
"""
