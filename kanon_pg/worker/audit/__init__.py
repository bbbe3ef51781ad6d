"""Searches for sets of columns that single people out; `auditor` is the way in.

Each module answers one part of an audit. Row types in, sets of columns out.

A *class* is the rows that agree on some columns; its size counts people. A set of columns *violates* k if one
of its classes has fewer than k people. A violating set is *minimal* if no proper subset violates; a set is
*minimum* if no other of its kind has fewer columns. A set *identifies* if it distinguishes all rows that all
columns distinguish.
"""
