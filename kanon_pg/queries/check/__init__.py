"""The checker: the text of a query and a catalog snapshot in, a verdict with canonical SQL or findings out.

The folders are its stages: `read` (text to syntax tree), `bind` (names, types and scopes; fills a `plan`),
`rules` (what the text alone forbids), `write` (canonical SQL with hidden columns that count people);
`checker` joins them. It is pure: no database, no array library, no clock; sqlglot has one importer,
`read.sqlglot_parser`.
"""
