-- The values of some columns in a random sample of the rows, one for each person, as numbers in one order of the rows.
SELECT
{% for c in columns %}
    coalesce(pg_catalog.array_agg({{ c.identity }}), '{}') AS {{ c.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
FROM (
    SELECT{% if entity %} DISTINCT ON (r.{{ entity }}){% endif %}{% for c in columns %} r.{{ c.name }} AS {{ c.alias }}{% if not loop.last %},{% endif %}{% endfor %}

    FROM {{ relation }} AS r
    WHERE pg_catalog.random() < {{ share }}
    LIMIT {{ rows }}
) AS drawn
