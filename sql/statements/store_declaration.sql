-- Records or replaces the roles of a relation's columns.
-- $1 bigint
-- $2 text[]
-- $3 text[]
-- $4 text[]
-- $5 text[]
-- $6 text
-- $7 text
-- $8 text
-- $9 text
INSERT INTO kanon.declaration AS d (
    relation, identifiers, quasi_identifiers, sensitive, insensitive, entity, weights, row_types_view, declared_by
)
VALUES (
    $1::bigint::oid::regclass, $2::text[]::name[], $3::text[]::name[], $4::text[]::name[], $5::text[]::name[],
    $6::text::name, $7::text::jsonb, $8::text::name, $9::text::name
)
ON CONFLICT (relation) DO UPDATE SET
    identifiers = excluded.identifiers,
    quasi_identifiers = excluded.quasi_identifiers,
    sensitive = excluded.sensitive,
    insensitive = excluded.insensitive,
    entity = excluded.entity,
    weights = excluded.weights,
    row_types_view = excluded.row_types_view,
    declared_by = excluded.declared_by,
    declared_at = pg_catalog.now()
