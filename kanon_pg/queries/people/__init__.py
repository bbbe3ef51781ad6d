"""Whose rows a block counts, and which expressions it may have; both are decided before anything is read.

`people` follows links from tables to persons; `forms` has the rules of expressions, `failing` those that fail
for no values. All refuse with the form that passes.
"""
