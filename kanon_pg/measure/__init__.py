"""How private, and how useful, a relation is: figures of its equivalence classes, counted in SQL."""
