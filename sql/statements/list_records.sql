-- The records of people of relations that still exist.
SELECT r.space::oid::bigint AS space, r.space::text AS relation
FROM kanon.record AS r
INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.space::oid
ORDER BY r.begun_at, r.space
