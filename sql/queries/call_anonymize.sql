-- Publishes a release through the server's own function.
-- $1 bigint
-- $2 integer
-- $3 text[]
-- $4 text[]
-- $5 text
-- $6 text
-- $7 double precision
-- $8 text
-- $9 integer
-- $10 integer
-- $11 integer
-- $12 double precision
-- $13 text
-- $14 text
SELECT
    r.release, r.k, r.rows, r.people, r.row_types, r.classes, r.smallest_class, r.average_class, r.largest_class,
    r.suppressed_cells, r.suppressed_share, r.weighted_cost, r.lower_bound, r.gap, r.optimal, r.method,
    r.bound_method, r.usefulness, extract(EPOCH FROM r.elapsed)::double precision AS elapsed,
    r.termination
FROM kanon_anonymize(
    relation => $1::bigint::oid::regclass,
    k => $2::integer,
    quasi_identifiers => $3::text[]::name[],
    sensitive => $4::text[]::name[],
    method => $5::text,
    patterns => $6::text::jsonb,
    time_limit => pg_catalog.make_interval(secs => $7::double precision),
    release => $8::text::name,
    seed => $9::integer,
    l => $10::integer,
    p => $11::integer,
    t => $12::double precision,
    options => $13::text::jsonb,
    hierarchies => $14::text::jsonb
) AS r
