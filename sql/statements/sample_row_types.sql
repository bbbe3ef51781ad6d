-- Whether the first rows of a relation alone have more row types than a limit: they are counted up to it.
-- $1 bigint
-- $2 bigint
WITH base AS (
    SELECT
{% for q in columns %}
        {{ q.expression }} AS {{ q.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
    FROM {{ relation }}
    LIMIT $2::bigint
)

SELECT count(*) AS types
FROM (
    SELECT FROM base
    GROUP BY {% for q in columns %}{{ q.alias }}{% if not loop.last %}, {% endif %}{% endfor %}

    LIMIT $1::bigint + 1
) AS types
