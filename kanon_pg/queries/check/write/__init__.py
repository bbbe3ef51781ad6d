"""Writes the SQL that runs in place of a query, with hidden columns that count people.

Every name is qualified and quoted, every constant typed; only constants of the analyst's text occur in it.
Nothing is refused here but statements that grow too long.
"""
