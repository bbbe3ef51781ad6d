-- The rules of a relation, or of the nearest protected table whose partition or inheritance child it is.
-- $1 bigint
WITH RECURSIVE up (oid, distance) AS (
    SELECT $1::bigint::oid, 0
    UNION ALL
    SELECT i.inhparent, up.distance + 1
    FROM up JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = up.oid
)

SELECT
    p.relation::oid::bigint AS relation, p.k, p.mode, p.queries, p.refusals, p.seconds, p.rows, p.beside_releases,
    coalesce(p.noise, 'null')::text AS noise,
    pg_catalog.to_json(ARRAY(SELECT pg_catalog.pg_get_userbyid(r.member::oid) FROM pg_catalog.unnest(p.exact_for) AS r (member)))::text AS exact_for
FROM up JOIN kanon.protection AS p ON p.relation = up.oid::regclass
ORDER BY up.distance, p.k DESC
LIMIT 1
