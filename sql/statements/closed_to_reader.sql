-- Relations that a reader may not read.
-- $1 bigint[]
-- $2 text
SELECT n.nspname::text AS schema, c.relname::text AS name
FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = ANY ($1::bigint[]::oid[]) AND NOT (
    pg_catalog.has_schema_privilege($2::text::name, n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege($2::text::name, c.oid, 'SELECT')
)
ORDER BY c.oid
