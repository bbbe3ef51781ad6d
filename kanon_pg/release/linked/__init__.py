"""Releases of linked tables: the people of one table, and rows of others that hang on them by links.

The person table is released as any other, with further quasi-identifiers: what others could know of a
person's rows elsewhere. The other tables show rows of published people alone, with pseudonyms in the place
of keys.
"""
