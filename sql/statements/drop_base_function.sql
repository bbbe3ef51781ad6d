-- Removes the function that read a base relation.
DROP ROUTINE IF EXISTS {{ base }}
