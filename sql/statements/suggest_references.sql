-- Columns that alone refer to another table, with the names of these tables.
-- $1 bigint
SELECT
    a.attname::text AS name,
    t.relname::text AS referred
FROM pg_catalog.pg_constraint AS c
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
INNER JOIN pg_catalog.pg_class AS t ON t.oid = c.confrelid
WHERE c.conrelid = $1::bigint::oid AND c.contype = 'f' AND pg_catalog.cardinality(c.conkey) = 1
ORDER BY a.attnum, t.relname
