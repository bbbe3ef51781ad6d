-- Of the relations that a query reads: which owners there are besides superusers, and whose reader reads them all.
-- $1 bigint[]
SELECT
    ARRAY(
        SELECT DISTINCT o.rolname::text
        FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        WHERE c.oid = ANY ($1::bigint[]::oid[]) AND NOT o.rolsuper AND o.rolname <> 'kanon_owner'
    ) AS owners,
    (
        SELECT kanon.reader_of(c.oid::regclass, true)
        FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        WHERE c.oid = ANY ($1::bigint[]::oid[]) AND NOT o.rolsuper AND o.rolname <> 'kanon_owner'
        ORDER BY c.oid
        LIMIT 1
    ) AS reader
