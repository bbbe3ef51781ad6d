-- In which columns some value occurs in several of the first rows; a look at some rows is enough, and quick.
SELECT
{% for column in columns %}
    EXISTS (
        SELECT
        FROM (
            SELECT r.{{ column.name }} AS value FROM {{ relation }} AS r
            WHERE r.{{ column.name }} IS NOT NULL
            LIMIT {{ rows }}
        ) AS first_rows
        GROUP BY value
        HAVING count(*) > 1
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
