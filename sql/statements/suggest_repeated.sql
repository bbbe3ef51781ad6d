-- In which columns some value occurs in several rows.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT 1 FROM {{ relation }} AS r
        WHERE r.{{ column.name }} IS NOT NULL
        GROUP BY r.{{ column.name }}
        HAVING count(*) > 1
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
