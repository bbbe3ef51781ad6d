-- What a release was made with, beside what fetch_release says, and whether readers may have had other versions.
-- $1 text
SELECT
    r.relation::oid::bigint AS base,
    (r.parameters ->> 'l')::integer AS l,
    (r.parameters ->> 'p')::integer AS p,
    (r.parameters ->> 't')::double precision AS t,
    r.hash_seed,
    r.refreshed_at IS NOT NULL AS was_refreshed
FROM kanon.release AS r
WHERE r.name = $1::text
