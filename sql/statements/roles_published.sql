-- The roles of a release's columns for whoever may read it, but not what only curators know of it.
-- $1 bigint
SELECT
    '{}'::text[] AS identifiers,
    quasi_identifiers::text[] AS quasi_identifiers,
    sensitive::text[] AS sensitive,
    insensitive::text[] AS insensitive,
    NULL::text AS entity,
    NULL::text AS weights,
    release::text AS release,
    NULL::bigint AS hidden_people,
    counts_people,
    NULL::double precision AS certainty_penalty,
    NULL::double precision AS generalization_height,
    NULL::double precision AS entropy_loss,
    NULL::double precision AS marginal_divergence
FROM kanon.published_roles
WHERE view = $1::bigint::oid::regclass
