-- name: group_edges(bigint): The pairs of neighbours of an adjacency.
WITH base AS (SELECT {{ one }} AS one, {{ other }} AS other FROM {{ relation }})
SELECT {{ one_shown }} AS one, {{ other_shown }} AS other FROM base WHERE one IS NOT NULL AND other IS NOT NULL
LIMIT $1::bigint

-- name: group_points(bigint): The different points of a relation, with what each weighs; rows without a whole point come
-- together, last. With an entity every person counts once: at the point that most of their rows have.
WITH base AS (
    SELECT CASE WHEN {{ y }} IS NOT NULL THEN {{ x }} + 0 END AS x,
        CASE WHEN {{ x }} IS NOT NULL THEN {{ y }} + 0 END AS y
        {% if weight %}, {{ weight }} AS weight{% endif %}
        {% if entity %}, {{ entity }} AS person{% endif %}
    FROM {{ relation }}
),
{% if entity %}
pairs AS (
    SELECT x, y,
        pg_catalog.row_number() OVER (PARTITION BY person ORDER BY count(*) DESC, x, y) = 1 AND person IS NOT NULL AS is_home
    FROM base GROUP BY x, y, person
)
{% else %}
pairs AS (SELECT * FROM base)
{% endif %}
SELECT x, y,
{% if entity %}
    (count(*) FILTER (WHERE is_home))::text AS weight,
    false AS negative
{% elif weight %}
    coalesce(pg_catalog.trunc(sum(weight)), 0)::text AS weight,
    coalesce(min(weight) < 0, false) AS negative
{% else %}
    count(*)::text AS weight, false AS negative
{% endif %}
FROM pairs GROUP BY x, y ORDER BY x, y LIMIT $1::bigint

-- name: group_ranges(text[], text[], text[]): Intervals as text, in the order in which their ends are given.
SELECT pg_catalog.{{ range }}(one.low::{{ type }}, one.high::{{ type }}, one.bounds)::text AS label
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]))
    WITH ORDINALITY AS one (low, high, bounds, place)
ORDER BY one.place

-- name: group_values(bigint): The values of a column in their order, with what each weighs; the missing ones come last. With an
-- entity every person counts once: at the value that most of their rows have.
WITH base AS (
    SELECT
        {{ value }} AS value
        {% if weight %}, {{ weight }} AS weight{% endif %}
        {% if entity %}, {{ entity }} AS person{% endif %}
        {% if x %}, {{ x }} AS x , {{ y }} AS y{% endif %}
    FROM {{ relation }}
),
{% if entity %}
pairs AS (
    SELECT value,
        pg_catalog.row_number() OVER (PARTITION BY person ORDER BY count(*) DESC, value) = 1 AND person IS NOT NULL AS is_home
        {% if x %}, avg(x) AS x , avg(y) AS y{% endif %}
    FROM base GROUP BY value, person
),
{% endif %}
grouped AS (
    SELECT value,
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
        {% if x %}, avg(x) AS x , avg(y) AS y{% endif %}
    FROM {% if entity %}pairs{% else %}base{% endif %} GROUP BY value
)
SELECT {{ shown }} AS shown, weight::text AS weight,
    negative
    {% if x %}, x , y{% endif %}
FROM grouped ORDER BY value LIMIT $1::bigint
