-- Records or replaces the rules under which a relation answers queries; the rules are one JSON object.
-- $1 bigint
-- $2 text
-- $3 text
INSERT INTO kanon.protection AS p (
    relation, k, mode, strict, simulatable, dominance, extremes, ledger, one_sided, rank, queries, refusals,
    all_queries, all_refusals, period, lockout, seconds, rows, margin, near_refusals, share,
    beside_releases, protected_by
)
SELECT
    $1::bigint::oid::regclass, r.k, r.mode, r.strict, r.simulatable, r.dominance, r.extremes, r.ledger, r.one_sided,
    r.rank, r.queries, r.refusals, r.all_queries, r.all_refusals, r.period, r.lockout, r.seconds, r.rows,
    r.margin, r.near_refusals, r.share, r.beside_releases, $3::text::name
FROM pg_catalog.jsonb_populate_record(NULL::kanon.protection, $2::text::jsonb) AS r
ON CONFLICT (relation) DO UPDATE SET
    k = excluded.k,
    mode = excluded.mode,
    strict = excluded.strict,
    simulatable = excluded.simulatable,
    dominance = excluded.dominance,
    extremes = excluded.extremes,
    ledger = excluded.ledger,
    one_sided = excluded.one_sided,
    rank = excluded.rank,
    queries = excluded.queries,
    refusals = excluded.refusals,
    all_queries = excluded.all_queries,
    all_refusals = excluded.all_refusals,
    period = excluded.period,
    lockout = excluded.lockout,
    seconds = excluded.seconds,
    rows = excluded.rows,
    margin = excluded.margin,
    near_refusals = excluded.near_refusals,
    share = excluded.share,
    beside_releases = excluded.beside_releases,
    protected_by = excluded.protected_by,
    protected_at = pg_catalog.now()
