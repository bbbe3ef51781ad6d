-- All records of relations that still exist, also those that were replaced.
SELECT l.relation::text AS relation, record.name
FROM kanon.ledger AS l
CROSS JOIN LATERAL pg_catalog.unnest(l.earlier || l.name) AS record (name)
JOIN pg_catalog.pg_class AS c ON c.oid = l.relation::oid
ORDER BY l.begun_at, l.relation
