"""Installs the SQL objects into a database, removes them, and proves that they work."""
