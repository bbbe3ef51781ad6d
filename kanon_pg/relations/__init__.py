"""A relation as operations take it: the roles of its columns, the spelling of its cells, its row types.

`subject` resolves what a caller named, `canonical` gives equal values one spelling, `counting` brings row
types over from the database. Services build on these; nothing here decides what is published or measured.
"""
