-- Answers the blocks of a query.
-- $1 text
-- $2 text[]
SELECT b.rest, b.rows::text AS rows, b.notices
FROM kanon.answer_blocks($1, $2::text[], pg_catalog.current_schemas(false)) AS b
