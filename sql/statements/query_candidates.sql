-- The relations that the words of a query may name: those of its schemas that whoever reads them for queries can read.
-- $1 text[]
-- $2 text[]
SELECT c.oid::bigint AS oid, n.nspname::text AS schema, c.relname::text AS name,
    coalesce(
        pg_catalog.has_schema_privilege(r.reader, n.oid, 'USAGE')
        AND pg_catalog.has_schema_privilege('kanon_reader', n.oid, 'USAGE')
        AND pg_catalog.has_any_column_privilege(r.reader, c.oid, 'SELECT'), false
    ) AS readable
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
{% include "query_reader_of.sql" %}

) AS r
WHERE c.relname = ANY ($1::text[]::name[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relpersistence <> 't'
    AND (n.nspname = ANY ($1::text[]::name[]) OR n.nspname = ANY ($2::text[]::name[]))
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'kanon', 'kanon_bases')
ORDER BY c.oid
