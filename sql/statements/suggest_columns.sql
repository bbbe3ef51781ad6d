-- How many rows have no value in each column, and how long texts are.
SELECT
    count(*) AS rows
{% for column in columns %}
    , count(*) - count({{ column.name }}) AS {{ column.missing }}
{% if column.is_text %}
    , avg(pg_catalog.char_length({{ column.name }}::text))::double precision AS {{ column.length }}
{% endif %}
{% endfor %}
FROM {{ relation }}
