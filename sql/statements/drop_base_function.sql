-- Removes the function that read a base relation, or showed its rows.
DROP FUNCTION IF EXISTS {{ function }}
