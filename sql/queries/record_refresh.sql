-- Records what a release has after a refresh.
-- $1 text
-- $2 bigint
-- $3 bigint
-- $4 bigint
-- $5 bigint
-- $6 double precision
-- $7 bigint
-- $8 bigint
-- $9 bigint
UPDATE kanon.release SET
    rows = $2::bigint,
    people = $3::bigint,
    classes = $4::bigint,
    smallest_class = $5::bigint,
    average_class = $6::double precision,
    largest_class = $7::bigint,
    suppressed_cells = $8::bigint,
    suppressed_share = $8::bigint / greatest(1, $2::bigint * pg_catalog.cardinality(quasi_identifiers))::double precision,
    settled_before = $9::bigint,
    settled_on = (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c),
    refreshed_at = pg_catalog.now()
WHERE name = $1::text
