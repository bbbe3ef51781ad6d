-- The record of a space of people, and what the database knows of it (NULL if nothing).
-- $1 bigint
SELECT r.name, m.events, pg_catalog.encode(m.digest, 'hex') AS digest
FROM kanon.record AS r
LEFT JOIN LATERAL (
    SELECT w.events, w.digest
    FROM kanon.record_mark AS w
    WHERE w.name = r.name
    ORDER BY w.events DESC
    LIMIT 1
) AS m ON true
WHERE r.space = $1::bigint::oid::regclass
