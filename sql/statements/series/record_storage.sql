-- Records the storage and the figures of a new version of a release over time.
-- $1 text
-- $2 text
-- $3 bigint
-- $4 bigint
-- $5 bigint
-- $6 bigint
-- $7 double precision
-- $8 bigint
-- $9 bigint
-- $10 double precision
UPDATE kanon.release SET
    storage = $2::text::regclass,
    rows = $3::bigint,
    people = $4::bigint,
    classes = $5::bigint,
    smallest_class = $6::bigint,
    average_class = $7::double precision,
    largest_class = $8::bigint,
    suppressed_cells = $9::bigint,
    suppressed_share = $9::bigint / greatest(1, $3::bigint * pg_catalog.cardinality(quasi_identifiers))::double precision,
    weighted_cost = $10::double precision,
    lower_bound = NULL,
    gap = NULL,
    optimal = false,
    bound_method = NULL,
    usefulness = NULL,
    base_changes_at_publish = kanon.base_changes(relation),
    refreshed_at = pg_catalog.now()
WHERE name = $1::text
