-- In which columns some row differs from others, NULL being a value. Records compare their fields as GROUP BY does, and
-- no operator of others has a say.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT 1 FROM {{ relation }} AS r
        WHERE NOT ROW(r.{{ column.name }})::pg_catalog.record OPERATOR(pg_catalog.=)
            ROW((SELECT f.{{ column.name }} FROM {{ relation }} AS f LIMIT 1))::pg_catalog.record
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
