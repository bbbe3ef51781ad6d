"""Searches for sets of columns that single people out; `auditor` is the way in.

Each module answers one part of an audit. Row types in, sets of columns out.
"""
