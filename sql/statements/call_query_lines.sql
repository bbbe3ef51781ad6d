-- Runs a query: lines of texts, first the names of the columns, then their types.
-- $1 text
-- $2 text[]
SELECT line FROM kanon.query_lines($1, $2)
