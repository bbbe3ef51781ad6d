{# The row types of each person, with how many there are; all on the person's node. #}
SELECT
            held.*,
            count(*) OVER (PARTITION BY held.person) AS row_types,
            pg_catalog.row_number() OVER (PARTITION BY held.person) AS place
        FROM (
            SELECT {% for q in columns %}{{ q.alias }}, {% endfor %}person, count(*) AS n
            FROM (
                SELECT
{% for q in columns %}
                    {{ q.expression }} AS {{ q.alias }},
{% endfor %}
                    {{ entity.expression }} AS person
                FROM {{ relation }}
            ) AS base
            GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}person
        ) AS held
