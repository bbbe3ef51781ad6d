-- Removes the view that read a base relation, after its function.
DROP VIEW IF EXISTS {{ base }}
