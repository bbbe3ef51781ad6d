-- Drops a function that nothing else uses; `function` is a regprocedure's own text.
DROP FUNCTION {{ function }}
