"""Exact answers: a block is read once, its people are counted, and rows about too few are left out.

`block_rows` and `hashes` write the rows of a block as SQL, `guarded` what counts, `checks` what PostgreSQL
checks before; `reader` and `scans` say with whose rights and how relations are read; `judging` decides which
rows are shown; `rest` is the analyst's own SQL over these rows.
"""
