-- The different values of a column, each in a text form that does not depend on the session's style of dates or its
-- time zone.
SELECT
{% if is_zoned %}
    CASE
        WHEN pg_catalog.isfinite({{ column }}::pg_catalog.timestamptz)
            THEN (pg_catalog.to_jsonb(pg_catalog.timezone('UTC', {{ column }}::pg_catalog.timestamptz)) #>> '{}') || '+00:00'
        ELSE pg_catalog.to_jsonb({{ column }}) #>> '{}'
    END AS value,
{% elif is_moment %}
    pg_catalog.to_jsonb({{ column }}) #>> '{}' AS value,
{% else %}
    {{ text }} AS value,
{% endif %}
    count(*) AS rows
FROM {{ relation }}
WHERE {{ column }} IS NOT NULL
GROUP BY {{ column }}
ORDER BY 1
LIMIT {{ most }}
