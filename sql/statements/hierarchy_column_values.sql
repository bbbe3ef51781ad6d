-- The different values of a column, each in a text form that does not depend on the session's style of dates.
SELECT
{% if is_moment %}
    pg_catalog.to_jsonb({{ column }}) #>> '{}' AS value,
{% else %}
    {{ column }}::text AS value,
{% endif %}
    count(*) AS rows
FROM {{ relation }}
WHERE {{ column }} IS NOT NULL
GROUP BY {{ column }}
ORDER BY 1
LIMIT {{ most }}
