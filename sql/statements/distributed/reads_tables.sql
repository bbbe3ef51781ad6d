-- Whether a relation is a table of Citus, distributed or not, or a view that reads one.
-- $1 bigint
WITH RECURSIVE read (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT d.refobjid
    FROM read
    JOIN pg_catalog.pg_class AS c ON c.oid = read.oid AND c.relkind = 'v'
    JOIN pg_catalog.pg_rewrite AS w ON w.ev_class = c.oid
    JOIN pg_catalog.pg_depend AS d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
    WHERE d.refclassid = 'pg_catalog.pg_class'::regclass
)

SELECT EXISTS (
    SELECT FROM read JOIN pg_catalog.pg_dist_partition AS p ON p.logicalrelid = read.oid
) AS reads
