-- Distributes a table so that its rows are where those of another table are that have the same value.
-- $1 text
-- $2 text
SELECT pg_catalog.create_distributed_table($1::text::regclass, 'kanon_place', colocate_with => $2::text)::text AS done
