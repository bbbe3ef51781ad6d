-- The values of a column in their order, with what each weighs; the missing ones come last.
-- With an entity every person counts once: at the value that most of their rows have.
-- $1 bigint
WITH base AS (
    SELECT
        {{ value }} AS value
{% if weight %}
        , {{ weight }} AS weight
{% endif %}
{% if entity %}
        , {{ entity }} AS person
{% endif %}
{% if x %}
        , {{ x }} AS x
        , {{ y }} AS y
{% endif %}
    FROM {{ relation }}
),

{% if entity %}
pairs AS (
    SELECT
        value,
        pg_catalog.row_number() OVER (PARTITION BY person ORDER BY count(*) DESC, value) = 1
            AND person IS NOT NULL AS is_home
{% if x %}
        , avg(x) AS x
        , avg(y) AS y
{% endif %}
    FROM base
    GROUP BY value, person
),

{% endif %}
grouped AS (
    SELECT
        value,
{% if entity %}
        count(*) FILTER (WHERE is_home) AS weight,
        false AS negative
{% elif weight %}
        coalesce(pg_catalog.trunc(sum(weight)), 0) AS weight,
        coalesce(min(weight) < 0, false) AS negative
{% else %}
        count(*) AS weight,
        false AS negative
{% endif %}
{% if x %}
        , avg(x) AS x
        , avg(y) AS y
{% endif %}
    FROM {% if entity %}pairs{% else %}base{% endif %}

    GROUP BY value
)

SELECT
    {{ shown }} AS shown,
    weight::text AS weight,
    negative
{% if x %}
    , x
    , y
{% endif %}
FROM grouped
ORDER BY value
LIMIT $1::bigint
