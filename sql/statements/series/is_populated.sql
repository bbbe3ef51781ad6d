-- Whether a materialized view has been filled.
-- $1 text
SELECT coalesce((SELECT c.relispopulated FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass($1::text)), false) AS populated
