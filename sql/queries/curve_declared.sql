-- The declared roles of a relation's columns, as far as they matter for counting row types.
-- $1 bigint
SELECT
    identifiers::text[] AS identifiers,
    quasi_identifiers::text[] AS quasi_identifiers,
    entity::text AS entity,
    weights::text AS weights
FROM kanon.declarations
WHERE relation = $1::bigint::oid::regclass
