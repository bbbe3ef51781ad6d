"""A bound query as data: typed expressions, levels, and what follows from them about joins, rows and people.

`bind` makes plans; `rules` check them and `write` turns them into SQL.
Nothing here reads text or writes SQL, except the templates that typed expressions carry.
"""
