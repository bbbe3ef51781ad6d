"""A generated hospital and the story of what kanon_pg does to its table.

`patients` makes the table, `scene` is what a story consists of, `story` tells it. Only ``kanon demo`` uses
it.
"""
