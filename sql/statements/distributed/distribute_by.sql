-- Distributes a table by a column.
-- $1 text
-- $2 text
SELECT pg_catalog.create_distributed_table($1::text::regclass, $2::text)::text AS done
