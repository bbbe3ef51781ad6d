-- Remember the record of a space of people, in place of an earlier one.
-- $1 bigint
-- $2 text
-- $3 text
INSERT INTO kanon.record AS r (space, name, begun_by)
VALUES ($1::bigint::oid::regclass, $2::text, $3::text::name)
ON CONFLICT (space) DO UPDATE SET
    name = excluded.name,
    begun_by = excluded.begun_by,
    begun_at = pg_catalog.now()
