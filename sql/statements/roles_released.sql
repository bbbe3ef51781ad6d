-- The roles of a release's columns, and what it lost when it was published; who a row belongs to is not published.
-- $1 bigint
SELECT
    '{}'::text[] AS identifiers,
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive,
    NULL::text AS entity,
    NULL::text AS weights,
    release::text AS release,
    CASE WHEN entity IS NOT NULL THEN people END AS hidden_people,
    FALSE AS counts_people,
    certainty_penalty,
    generalization_height,
    entropy_loss,
    marginal_divergence
FROM kanon.releases
WHERE view = $1::bigint::oid::regclass
