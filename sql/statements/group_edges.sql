-- The pairs of neighbours of an adjacency.
-- $1 bigint
WITH base AS (
    SELECT
        {{ one }} AS one,
        {{ other }} AS other
    FROM {{ relation }}
)

SELECT
    {{ one_shown }} AS one,
    {{ other_shown }} AS other
FROM base
WHERE one IS NOT NULL AND other IS NOT NULL
LIMIT $1::bigint
