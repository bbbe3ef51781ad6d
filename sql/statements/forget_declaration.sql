-- Removes a declaration; returns the name of its view of row types.
-- $1 bigint
DELETE FROM kanon.declaration
WHERE relation = $1::bigint::oid::regclass
RETURNING row_types_view::text AS row_types_view
