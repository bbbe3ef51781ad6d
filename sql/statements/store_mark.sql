-- Remember how far a record was written.
-- $1 text
-- $2 bigint
-- $3 text
INSERT INTO kanon.record_mark (name, events, digest)
VALUES ($1::text, $2::bigint, pg_catalog.decode($3::text, 'hex'))
