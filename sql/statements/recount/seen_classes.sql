{# Classes as readers tell them apart, of rows that are grouped by what is stored: here, or by the statement around. #}
SELECT
    count(*) AS classes,
    coalesce(sum(n), 0)::bigint AS rows,
    coalesce(min(people), 0) AS smallest,
    coalesce(max(people), 0) AS largest,
    coalesce(sum(people), 0)::bigint AS memberships,
    coalesce(sum(n * pg_catalog.bit_count(hidden::bit(64))), 0)::bigint AS suppressed
FROM (
    SELECT
        hidden,
        sum(n)::bigint AS n,
        {% if entity %}count(person){% else %}sum(n)::bigint{% endif %} AS people
    FROM (
        SELECT
{% for q in columns %}
            {{ q.alias }},
{% endfor %}
{% for q in columns %}
            (({{ q.is_suppressed }})::integer::bigint << {{ loop.index0 }}){% if not loop.last %} |{% endif %}

{% endfor %}
            AS hidden,
{% if entity %}
            person,
{% endif %}
            sum(n) AS n
        FROM {% if generalized %}held{% else %}(
{% include "recount/stored_rows.sql" %}

        ) AS held{% endif %}

        GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}{% if entity %}person, {% endif %}hidden
    ) AS seen
    GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}hidden
) AS class
