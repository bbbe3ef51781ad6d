-- The ledgers of some relations, what the database knows of their journals (NULL if nothing), and whether that is so
-- old that it should know more.
-- $1 bigint[]
SELECT
    l.relation::oid::bigint AS relation,
    l.name,
    m.records,
    m.length,
    pg_catalog.encode(m.digest, 'hex') AS digest,
    coalesce(m.written_at < pg_catalog.clock_timestamp() - interval '5 seconds', true) AS is_old
FROM kanon.ledger AS l
LEFT JOIN LATERAL (
    SELECT w.records, w.length, w.digest, w.written_at
    FROM kanon.ledger_mark AS w
    WHERE w.name = l.name
    ORDER BY w.records DESC
    LIMIT 1
) AS m ON true
WHERE l.relation::oid = ANY($1::bigint[]::oid[])
