-- One version of a release over time: the cells of its members as they were first published. A cohort is shown only
-- while its rows and people are those recorded, and at least k; nothing is read from the base table.
CREATE MATERIALIZED VIEW {{ storage }} AS
WITH present AS (
{% if entity %}
    SELECT
        held.cohort,
        sum(held.n)::bigint AS rows,
        count(held.person) AS people,
        pg_catalog.bool_or(held.erased) AS erased
    FROM (
        SELECT cohort, person, count(*) AS n, pg_catalog.bool_or(erased) AS erased
        FROM {{ members }}
        GROUP BY cohort, person
    ) AS held
    GROUP BY held.cohort
{% else %}
    SELECT cohort, count(*) AS rows, count(*) AS people, pg_catalog.bool_or(erased) AS erased
    FROM {{ members }}
    GROUP BY cohort
{% endif %}
),

shown AS (
    SELECT present.cohort
    FROM present
    INNER JOIN {{ cohorts }} AS recorded ON recorded.cohort = present.cohort
    WHERE recorded.is_shown
        AND present.rows = recorded.rows
        AND present.people = recorded.people
        AND present.people >= {{ k }}
        AND NOT present.erased
)

SELECT
{% for c in cells %}
    member.{{ c.cell }} AS {{ c.output }},
{% endfor %}
{% if entity %}
    member.person AS kanon_person,
{% endif %}
    member.pattern AS kanon_pattern,
    member.row_id AS kanon_row
FROM (SELECT m.*, m.row_id AS class_hash, 1 AS place FROM {{ members }} AS m) AS member
INNER JOIN shown ON shown.cohort = member.cohort
ORDER BY {% include "guard/shuffled.sql" %}
