-- How many rows have a value in each column, and how many values there are, among the first rows.
SELECT
{% for column in columns %}
    (
        SELECT ARRAY[count(value), count(DISTINCT value)]
        FROM (SELECT {{ column.seen }} AS value FROM {{ relation }} AS r LIMIT {{ rows }}) AS first_rows
    ) AS {{ column.alias }}{% if not loop.last %},{% endif %}

{% endfor %}
