-- name: fetch_records(bigint): The record of a space of people, and what the database knows of it (NULL if nothing).
SELECT r.name, m.events, pg_catalog.encode(m.digest, 'hex') AS digest
FROM kanon.record AS r
LEFT JOIN LATERAL (
    SELECT w.events, w.digest FROM kanon.record_mark AS w WHERE w.name = r.name ORDER BY w.events DESC LIMIT 1
) AS m ON true
WHERE r.space = $1::bigint::oid::regclass

-- name: list_records(): The records of people of relations that still exist.
SELECT r.space::oid::bigint AS space, r.space::text AS relation
FROM kanon.record AS r INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.space::oid ORDER BY r.begun_at, r.space

-- name: store_record(bigint, text, text): Remember the record of a space of people, in place of an earlier one.
INSERT INTO kanon.record AS r (space, name, begun_by)
VALUES ($1::bigint::oid::regclass, $2::text, $3::text::name)
ON CONFLICT (space) DO UPDATE SET name = excluded.name, begun_by = excluded.begun_by, begun_at = pg_catalog.now()

-- name: store_mark(text, bigint, text): Remember how far a record was written.
INSERT INTO kanon.record_mark (name, events, digest) VALUES ($1::text, $2::bigint, pg_catalog.decode($3::text, 'hex'))

-- name: keep_marks(): Stores the marks of the query of the current call.
SELECT kanon.keep_marks()::text AS done

-- name: forget_marks(text, bigint): Forget earlier marks of a record, unless another transaction has them: nobody waits for anybody.
DELETE FROM kanon.record_mark AS m
WHERE m.ctid = ANY(ARRAY(
    SELECT w.ctid FROM kanon.record_mark AS w WHERE w.name = $1::text AND w.events < $2::bigint
    ORDER BY w.events LIMIT 100
    FOR UPDATE SKIP LOCKED
))

-- name: record_moment(): Which database this is, and whether the server is a standby.
SELECT pg_catalog.pg_is_in_recovery() AS is_copy,
    (SELECT d.oid::bigint FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) AS database

-- name: now(): The server's clock, in seconds since 1970.
SELECT extract(EPOCH FROM pg_catalog.clock_timestamp())::double precision AS seconds
