-- The declared roles of a relation's columns.
-- $1 bigint
SELECT
    identifiers::text[] AS identifiers,
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive,
    entity::text AS entity,
    weights::text AS weights
FROM kanon.declarations
WHERE relation = $1::bigint::oid::regclass
