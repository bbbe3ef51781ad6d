-- Fewest people who share their values of some columns, counted by PostgreSQL's own equality. A class in
-- which nobody is known counts as one person.
WITH source AS (
    SELECT
{% for column in columns %}
        {{ column.name }} AS {{ column.alias }},
{% endfor %}
        {% if entity %}{{ entity }}{% else %}NULL{% endif %} AS person
    FROM {{ relation }}
){% if entity %},

people AS (
    SELECT {{ keys }}, person
    FROM source
    GROUP BY {{ keys }}, person
)
{% endif %}


SELECT min(size) AS smallest
FROM (
{% if entity %}
    SELECT greatest(1, count(person)) AS size
    FROM people
{% else %}
    SELECT count(*) AS size
    FROM source
{% endif %}
    GROUP BY {{ keys }}
) AS class
