-- The tables that links lead to from a table, whether their foreign keys still hold or not.
-- $1 bigint
SELECT a.relation::oid::bigint AS oid
FROM kanon.linked_above($1::bigint::oid::regclass) AS a (relation)
