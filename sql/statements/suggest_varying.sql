-- In which columns some row differs from others, NULL being a value.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT 1 FROM {{ relation }} AS r
        WHERE r.{{ column.name }} IS DISTINCT FROM (SELECT f.{{ column.name }} FROM {{ relation }} AS f LIMIT 1)
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
