-- The releases of a relation that the caller may read, with what they cost.
-- $1 bigint
SELECT
    release,
    view::text AS view,
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    k,
    suppressed_cells,
    suppressed_share,
    certainty_penalty,
    generalization_height,
    entropy_loss,
    marginal_divergence
FROM kanon.releases
WHERE base = $1::bigint::oid::regclass AND pg_catalog.has_table_privilege(view, 'SELECT')
ORDER BY release
