-- Records a release with its parameters and report.
-- $1 text
-- $2 bigint
-- $3 text
-- $4 text
-- $5 bigint
-- $6 text
-- $7 text[]
-- $8 text[]
-- $9 text[]
-- $10 text
-- $11 text
-- $12 text
-- $13 text
-- $14 text[]
-- $15 text[]
-- $16 text
-- $17 double precision
-- $18 double precision
-- $19 double precision
-- $20 double precision
-- $21 bigint
-- $22 text
-- $23 text
INSERT INTO kanon.release (
    name, relation, storage, mapping, parts, hash_seed, parameters, quasi_identifiers, sensitive, insensitive, entity,
    k, rows, people, row_types, classes, smallest_class, average_class, largest_class, suppressed_cells,
    suppressed_share, weighted_cost, lower_bound, gap, optimal, method, bound_method, usefulness, elapsed,
    base_changes_at_publish, published_by, generalized, nodes, unknown,
    certainty_penalty, generalization_height, entropy_loss, marginal_divergence, termination,
    settled_before, settled_layout, settled_on, source
)
SELECT
    $1::text, $2::bigint::oid::regclass, $3::text::regclass, $4::text::regclass, $13::text::regclass, $5::bigint, $6::text::jsonb,
    $7::text[]::name[], $8::text[]::name[], $9::text[]::name[], $10::text::name,
    r.k, r.rows, r.people, r.row_types, r.classes, r.smallest_class, r.average_class, r.largest_class,
    r.suppressed_cells, r.suppressed_share, r.weighted_cost, r.lower_bound, r.gap, r.optimal, r.method,
    r.bound_method, r.usefulness, pg_catalog.make_interval(secs => r.elapsed),
    coalesce(r.changes, kanon.base_changes($2::bigint::oid::regclass)), $12::text::name,
    $14::text[]::name[], $15::text[]::regclass[], $16::text::regclass,
    $17::double precision, $18::double precision, $19::double precision, $20::double precision,
    r.termination,
    $21::bigint, $22::text::jsonb, (SELECT c.system_identifier FROM pg_catalog.pg_control_system() AS c),
    $23::text::regclass
FROM pg_catalog.jsonb_to_record($11::text::jsonb) AS r (
    k integer, rows bigint, people bigint, row_types bigint, classes bigint, smallest_class bigint,
    average_class double precision, largest_class bigint, suppressed_cells bigint,
    suppressed_share double precision, weighted_cost double precision, lower_bound double precision,
    gap double precision, optimal boolean, method text, bound_method text, usefulness double precision,
    elapsed double precision, termination text, changes bigint
)
