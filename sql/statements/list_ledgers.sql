-- All ledgers of relations that still exist, also those that were replaced.
SELECT l.relation::text AS relation, ledger.name
FROM kanon.ledger AS l
CROSS JOIN LATERAL pg_catalog.unnest(l.earlier || l.name) AS ledger (name)
JOIN pg_catalog.pg_class AS c ON c.oid = l.relation::oid
ORDER BY l.begun_at, l.relation
