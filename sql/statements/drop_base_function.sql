-- Removes the function that read a base relation.
DROP FUNCTION IF EXISTS {{ base }}
