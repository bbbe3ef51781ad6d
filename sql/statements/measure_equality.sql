-- The operator by which GROUP BY compares a column, if its type brings one of its own (no row: pg_catalog's =).
-- $1 bigint
-- $2 text
WITH RECURSIVE base AS (
    SELECT a.atttypid AS type_oid
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = $1::bigint::oid AND a.attname = $2::name
    UNION ALL
    SELECT t.typbasetype
    FROM base AS b
    INNER JOIN pg_catalog.pg_type AS t ON t.oid = b.type_oid
    WHERE t.typtype = 'd'
)

SELECT
    n.nspname::text AS schema,
    o.oprname::text AS name
FROM base AS b
INNER JOIN pg_catalog.pg_opclass AS c ON c.opcintype = b.type_oid AND c.opcdefault
INNER JOIN pg_catalog.pg_am AS a ON a.oid = c.opcmethod AND a.amname = 'btree'
INNER JOIN pg_catalog.pg_amop AS m
    ON m.amopfamily = c.opcfamily AND m.amopstrategy = 3
    AND m.amoplefttype = b.type_oid AND m.amoprighttype = b.type_oid
INNER JOIN pg_catalog.pg_operator AS o ON o.oid = m.amopopr
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = o.oprnamespace
