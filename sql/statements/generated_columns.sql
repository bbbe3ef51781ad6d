-- The generated columns of a relation, or of its partitions and children, and the columns that each is computed from.
-- $1 bigint
WITH RECURSIVE tree (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhrelid
    FROM tree
    INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = tree.oid
)

SELECT DISTINCT
    a.attname::text AS generated,
    s.attname::text AS source
FROM tree
INNER JOIN pg_catalog.pg_attribute AS a ON a.attrelid = tree.oid AND a.attgenerated <> '' AND NOT a.attisdropped
INNER JOIN pg_catalog.pg_attrdef AS e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
INNER JOIN pg_catalog.pg_depend AS d
    ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    AND d.refobjid = a.attrelid
    AND d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
    AND d.objid = e.oid
INNER JOIN pg_catalog.pg_attribute AS s ON s.attrelid = a.attrelid AND s.attnum = d.refobjsubid AND s.attnum <> a.attnum
ORDER BY generated, source
