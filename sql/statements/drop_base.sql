-- Removes the view that read a base relation, and the one of its rows' type, after the function.
DROP VIEW IF EXISTS {{ base }}, {{ row_type }}
