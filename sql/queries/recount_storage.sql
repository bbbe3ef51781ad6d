-- Classes of a release by pattern vector, counted on the published cells. People are grouped before they are counted:
-- a DISTINCT count would sort all rows by their cells, and hashing asks no collation.
SELECT
    pattern,
    count(*) AS classes,
    sum(n)::bigint AS rows,
    min(people) AS smallest,
    max(people) AS largest,
    sum(people)::bigint AS memberships,
    pg_catalog.bool_or(
{% for q in columns %}
        ({{ q.is_suppressed }} AND {{ q.alias }} IS NOT NULL){% if not loop.last %} OR{% endif %}

{% endfor %}
    ) AS leaks
FROM (
    SELECT
        pattern,
{% for q in columns %}
        {{ q.alias }},
{% endfor %}
{% if entity %}
        sum(n)::bigint AS n,
        count(person) AS people
{% else %}
        n,
        n AS people
{% endif %}
    FROM (
{% include "recount/stored_rows.sql" %}

    ) AS held
{% if entity %}
    GROUP BY pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

{% endif %}
) AS class
GROUP BY pattern
