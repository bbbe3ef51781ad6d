-- The records of some relations.
-- $1 bigint[]
SELECT l.relation::oid::bigint AS relation, l.name
FROM kanon.ledger AS l
WHERE l.relation::oid = ANY($1::bigint[]::oid[])
