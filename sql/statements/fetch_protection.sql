-- The rules of a relation, or of the nearest protected table whose partition or inheritance child it is.
-- $1 bigint
WITH RECURSIVE up (oid, distance) AS (
    SELECT $1::bigint::oid, 0
    UNION ALL
    SELECT i.inhparent, up.distance + 1
    FROM up JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = up.oid
)

SELECT
    p.relation::oid::bigint AS relation, p.k, p.mode, p.queries, p.refusals, p.seconds, p.rows, p.beside_releases
FROM up JOIN kanon.protection AS p ON p.relation = up.oid::regclass
ORDER BY up.distance, p.k DESC
LIMIT 1
