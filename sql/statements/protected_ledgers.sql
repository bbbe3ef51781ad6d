-- The protected relations whose queries are recorded, with the name of the ledger, NULL if there is none, and what the
-- database knows of its journal.
SELECT
    c.oid::bigint AS oid,
    p.relation::text AS relation,
    l.name,
    m.records,
    m.length,
    pg_catalog.encode(m.digest, 'hex') AS digest,
    current_user::text AS role
FROM kanon.protection AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid
LEFT JOIN kanon.ledger AS l ON l.relation::oid = p.relation::oid
LEFT JOIN LATERAL (
    SELECT w.records, w.length, w.digest
    FROM kanon.ledger_mark AS w
    WHERE w.name = l.name
    ORDER BY w.records DESC
    LIMIT 1
) AS m ON true
WHERE p.ledger <> 'off'
ORDER BY p.relation::text
