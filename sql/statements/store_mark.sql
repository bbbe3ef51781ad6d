-- Remember how far a journal was written.
-- $1 text
-- $2 bigint
-- $3 bigint
-- $4 text
INSERT INTO kanon.ledger_mark (name, records, length, digest)
VALUES ($1::text, $2::bigint, $3::bigint, pg_catalog.decode($4::text, 'hex'))
