-- The different points of a relation, with what each weighs; rows without a whole point come together, last.
-- With an entity every person counts once: at the point that most of their rows have.
-- $1 bigint
WITH base AS (
    SELECT
        CASE WHEN {{ y }} IS NOT NULL THEN {{ x }} + 0 END AS x,
        CASE WHEN {{ x }} IS NOT NULL THEN {{ y }} + 0 END AS y
{% if weight %}
        , {{ weight }} AS weight
{% endif %}
{% if entity %}
        , {{ entity }} AS person
{% endif %}
    FROM {{ relation }}
),

{% if entity %}
pairs AS (
    SELECT
        x,
        y,
        pg_catalog.row_number() OVER (PARTITION BY person ORDER BY count(*) DESC, x, y) = 1
            AND person IS NOT NULL AS is_home
    FROM base
    GROUP BY x, y, person
)
{% else %}
pairs AS (SELECT * FROM base)
{% endif %}

SELECT
    x,
    y,
{% if entity %}
    (count(*) FILTER (WHERE is_home))::text AS weight,
    false AS negative
{% elif weight %}
    coalesce(pg_catalog.trunc(sum(weight)), 0)::text AS weight,
    coalesce(min(weight) < 0, false) AS negative
{% else %}
    count(*)::text AS weight,
    false AS negative
{% endif %}
FROM pairs
GROUP BY x, y
ORDER BY x, y
LIMIT $1::bigint
