"""Reads the text of a query: tokens, sqlglot's tree, and from it the small syntax tree of `syntax`.

Whatever the syntax tree cannot express is refused here, with the place in the text.
Nothing here knows what a name means: no catalog, no types, no options but limits of size.
"""
