"""Reads a query: its text becomes blocks, which are about people, and the rest.

`scanner` has the tokens, `trees` the syntax (sqlglot), `load_facts` what names mean to the analyst, `scopes`
which relation or column is meant; `cutting` cuts. A refusal (`findings`) never depends on data.
"""
