-- Remember the ledger of a relation, unless somebody else began one meanwhile.
-- $1 bigint
-- $2 text
-- $3 text
INSERT INTO kanon.ledger (relation, name, begun_by)
VALUES ($1::bigint::oid::regclass, $2::text, $3::text::name)
ON CONFLICT (relation) DO NOTHING
