-- The pairs of neighbours of an adjacency.
-- $1 bigint
WITH base AS (
    SELECT
        {{ one }} AS one,
        {{ other }} AS other
    FROM {{ relation }}
)

SELECT
    one::text AS one,
    other::text AS other
FROM base
WHERE one IS NOT NULL AND other IS NOT NULL
LIMIT $1::bigint
