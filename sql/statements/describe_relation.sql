-- What kind of relation it is and whether the caller may read it.
-- $1 bigint
-- $2 text
SELECT
    n.nspname::text AS schema,
    c.relname::text AS name,
    c.relkind::text AS kind,
    c.relpersistence::text AS persistence,
    c.relrowsecurity AS row_security,
    pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner' AS is_own,
    pg_catalog.has_schema_privilege($2::text, n.oid, 'USAGE') AS schema_usable,
    pg_catalog.has_table_privilege($2::text, c.oid, 'SELECT') AS selectable
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid = $1::bigint::oid
