-- Records or replaces the rules under which a relation answers queries; the rules are one JSON object.
-- $1 bigint
-- $2 text
-- $3 text
INSERT INTO kanon.protection AS p (
    relation, k, mode, queries, refusals, seconds, rows, beside_releases, noise, exact_for, protected_by
)
SELECT
    $1::bigint::oid::regclass, r.k, r.mode, r.queries, r.refusals, r.seconds, r.rows, r.beside_releases, r.noise,
    r.exact_for, $3::text::name
FROM pg_catalog.jsonb_populate_record(NULL::kanon.protection, $2::text::jsonb) AS r
ON CONFLICT (relation) DO UPDATE SET
    k = excluded.k,
    mode = excluded.mode,
    queries = excluded.queries,
    refusals = excluded.refusals,
    seconds = excluded.seconds,
    rows = excluded.rows,
    beside_releases = excluded.beside_releases,
    noise = excluded.noise,
    exact_for = excluded.exact_for,
    protected_by = excluded.protected_by,
    protected_at = pg_catalog.now()
