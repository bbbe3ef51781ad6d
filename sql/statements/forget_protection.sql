-- Removes the rules under which a relation answers queries.
-- $1 bigint
DELETE FROM kanon.protection WHERE relation = $1::bigint::oid::regclass
RETURNING k
