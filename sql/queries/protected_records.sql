-- The protected relations whose queries are recorded, with the name of the record, NULL if there is none.
SELECT c.oid::bigint AS oid, p.relation::text AS relation, l.name, current_user::text AS role
FROM kanon.protection AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid
LEFT JOIN kanon.ledger AS l ON l.relation::oid = p.relation::oid
WHERE p.ledger <> 'off'
ORDER BY p.relation::text
