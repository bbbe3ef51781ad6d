-- Drops a function with all that uses it; `function` is a regprocedure's own text.
DROP FUNCTION {{ function }} CASCADE
