-- The declared roles of a relation's columns.
-- $1 bigint
SELECT
    identifiers::text[] AS identifiers,
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive,
    entity::text AS entity,
    weights::text AS weights,
    row_types_view::text AS row_types_view
FROM kanon.declaration
WHERE relation = $1::bigint::oid::regclass
