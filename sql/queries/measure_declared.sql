-- The declared roles of a relation's columns, as far as they matter for measuring.
-- $1 bigint
SELECT
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    entity::text AS entity
FROM kanon.declarations
WHERE relation = $1::bigint::oid::regclass
