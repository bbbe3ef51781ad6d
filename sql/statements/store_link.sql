-- Records or replaces whose people the rows of a table belong to.
-- $1 bigint
-- $2 bigint
-- $3 text[]
-- $4 text[]
-- $5 text
INSERT INTO kanon.link AS l (child, parent, columns, parent_columns, linked_by)
VALUES ($1::bigint::oid::regclass, $2::bigint::oid::regclass, $3::text[]::name[], $4::text[]::name[], $5::text::name)
ON CONFLICT (child) DO UPDATE SET
    parent = excluded.parent,
    columns = excluded.columns,
    parent_columns = excluded.parent_columns,
    linked_by = excluded.linked_by,
    linked_at = pg_catalog.now()
