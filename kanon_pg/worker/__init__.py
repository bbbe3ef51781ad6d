"""Code of worker processes, which a PostgreSQL backend starts and never imports.

What is here may use NumPy and other native libraries, large memory and its own files; it talks to its parent
through `kanon_pg.runner` and knows no database.
Nothing that runs in a backend may import it, and it imports neither services nor interfaces.
"""
