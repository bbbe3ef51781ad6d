"""What a release will contain, before anything is counted.

`request` are the checked arguments; `planning` makes of them the columns and their roles, and `record` has
what is recorded of releases. Nothing here is stored but that record.
"""
