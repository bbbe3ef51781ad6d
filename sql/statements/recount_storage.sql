-- Classes of a release by pattern vector, counted on the published cells. People are grouped before they are counted:
-- a DISTINCT count would sort all rows by their cells, and hashing asks no collation.
-- Where cells are generalized, also classes as readers tell them apart, and what these cells cost, of the same groups:
-- the rows are read once.
{% if generalized %}
WITH held AS MATERIALIZED (
{% include "recount/stored_rows.sql" %}

)

{% endif %}
SELECT
    by_pattern.*{% if generalized %},
    seen.classes AS seen_classes,
    seen.memberships AS seen_memberships,
    seen.smallest AS seen_smallest,
    seen.largest AS seen_largest{% for g in generalized %},
    levels_{{ g.number }}.loss AS loss_{{ g.number }},
    levels_{{ g.number }}.share AS share_{{ g.number }},
    levels_{{ g.number }}.levels AS levels_{{ g.number }},
    levels_{{ g.number }}.strange AS strange_{{ g.number }}{% endfor %}{% endif %}

FROM (
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
        FROM {% if generalized %}held{% else %}(
{% include "recount/stored_rows.sql" %}

        ) AS held{% endif %}

{% if entity %}
        GROUP BY pattern{% for q in columns %}, {{ q.alias }}{% endfor %}

{% endif %}
    ) AS class
    GROUP BY pattern
) AS by_pattern
{% if generalized %}
CROSS JOIN (
{% include "recount/seen_classes.sql" %}

) AS seen
{% for g in generalized %}
CROSS JOIN (
{% include "recount/levels.sql" %}

) AS levels_{{ g.number }}
{% endfor %}
{% endif %}
