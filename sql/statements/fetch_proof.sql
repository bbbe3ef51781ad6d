-- What was said about a published release, and what was asked for that its bound depends on.
-- $1 text
SELECT
    r.rows,
    r.weighted_cost,
    nullif(r.parameters -> 'patterns', 'null'::jsonb)::text AS patterns,
    r.parameters::text AS parameters
FROM kanon.release AS r
WHERE r.name = $1::text
