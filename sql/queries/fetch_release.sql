-- A published release.
-- $1 text
SELECT
    r.name,
    r.relation::oid::bigint AS base,
    sn.nspname::text AS storage_schema,
    s.relname::text AS storage_name,
    mn.nspname::text AS mapping_schema,
    m.relname::text AS mapping_name,
    pn.nspname::text AS parts_schema,
    p.relname::text AS parts_name,
    r.k
FROM kanon.release AS r
LEFT JOIN pg_catalog.pg_class AS s ON s.oid = r.storage
LEFT JOIN pg_catalog.pg_namespace AS sn ON sn.oid = s.relnamespace
LEFT JOIN pg_catalog.pg_class AS m ON m.oid = r.mapping
LEFT JOIN pg_catalog.pg_namespace AS mn ON mn.oid = m.relnamespace
LEFT JOIN pg_catalog.pg_class AS p ON p.oid = r.parts
LEFT JOIN pg_catalog.pg_namespace AS pn ON pn.oid = p.relnamespace
WHERE r.name = $1::text
