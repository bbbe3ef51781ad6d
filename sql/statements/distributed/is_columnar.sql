-- Whether a relation, a partition of it, or a table that a view reads is stored by columns.
-- $1 bigint
WITH RECURSIVE read (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT below.oid
    FROM read
    CROSS JOIN LATERAL (
        SELECT d.refobjid
        FROM pg_catalog.pg_class AS c
        INNER JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = c.oid
        INNER JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
        WHERE c.oid = read.oid AND c.relkind = 'v' AND d.refclassid = 'pg_catalog.pg_class'::regclass
        UNION ALL
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = read.oid
    ) AS below (oid)
)

SELECT EXISTS (
    SELECT
    FROM read
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = read.oid
    INNER JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
    WHERE a.amname = 'columnar'
) AS is_columnar
