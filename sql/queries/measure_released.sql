-- The roles of a release's columns, and what it lost when it was published; who a row belongs to is not published.
-- $1 bigint
SELECT
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    NULL::text AS entity,
    certainty_penalty,
    generalization_height,
    entropy_loss,
    marginal_divergence
FROM kanon.releases
WHERE view = $1::bigint::oid::regclass
