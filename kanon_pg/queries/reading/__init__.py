"""Reads a query: its text becomes blocks, which are about people, and the rest.

`scanner` has the tokens, `trees` the syntax (sqlglot), `load_facts` what names mean to the analyst, `scopes`
which relation or column is meant; `rows` is what a SELECT reads, `figures` what it shows; `cutting` cuts. A
refusal (`findings`) never depends on data.
"""
