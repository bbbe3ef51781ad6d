"""Gives names and types to a syntax tree: relations, columns, overloads, constants; the result is a `plan`.

An expression that could fail for some row is refused here, or replaced by one that cannot fail.
Who may see what is not decided here but in `rules`.
"""
