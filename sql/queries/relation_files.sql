-- The files of a relation and of everything that it consists of; they change when rows are moved without being
-- written (VACUUM FULL, CLUSTER) or all at once (TRUNCATE, ALTER TABLE).
-- $1 bigint
WITH RECURSIVE below (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhrelid FROM below JOIN pg_catalog.pg_inherits AS i ON i.inhparent = below.oid
)

SELECT pg_catalog.string_agg(
    pg_catalog.format('%s:%s', below.oid, pg_catalog.pg_relation_filenode(below.oid)), ',' ORDER BY below.oid
) AS files
FROM below
