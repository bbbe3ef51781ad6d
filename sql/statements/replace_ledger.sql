-- Remember a new ledger of a relation in place of the earlier one.
-- $1 bigint
-- $2 text
-- $3 text
UPDATE kanon.ledger
SET earlier = earlier || name, name = $2::text, begun_by = $3::text::name, begun_at = pg_catalog.now()
WHERE relation = $1::bigint::oid::regclass
