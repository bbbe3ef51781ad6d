-- The versions of a release that are remembered, the latest first.
-- $1 text
SELECT
    m.version,
    c.relname::text AS classes,
    m.key_columns::text[] AS key_columns,
    m.k,
    m.entity::text AS entity,
    m.erased_rows
FROM kanon.remembered AS m
LEFT JOIN pg_catalog.pg_class AS c ON c.oid = m.classes
WHERE m.release = $1::text
ORDER BY m.version DESC
