-- name: recount/levels(): What the published cells of one generalized column cost, by the release's own copy of its hierarchy: by
-- the loss that was asked for, as the share of values that they stand for, and in levels. And whether there are cells that this
-- copy does not have at their level, or below the lowest level. Of rows that the statement around has grouped.
SELECT
    coalesce(sum(seen.n * CASE
        WHEN seen.level >= {{ g.height }} THEN 1 WHEN seen.cell IS NULL THEN ({{ g.null_losses }})[seen.level + 1] ELSE known.loss
    END), 0)::double precision AS loss,
    coalesce(sum(seen.n * CASE
        WHEN seen.level >= {{ g.height }} THEN 1 WHEN seen.cell IS NULL THEN 0 ELSE known.share
    END), 0)::double precision AS share,
    coalesce(sum(seen.n * seen.level), 0)::double precision AS levels,
    coalesce(pg_catalog.bool_or(
        seen.level > {{ g.height }} OR seen.level < {{ g.lowest }}
        OR (seen.level < {{ g.height }} AND seen.cell IS NOT NULL AND known.node IS NULL)
    ), false) AS strange
FROM (
    SELECT stored.level, stored.cell, sum(stored.n)::bigint AS n
    FROM (
        SELECT (pattern >> {{ g.offset }}) & {{ g.mask }} AS level, {{ g.cell }} AS cell, sum(n) AS n FROM held GROUP BY 1, 2
    ) AS stored
    GROUP BY 1, 2
) AS seen
LEFT JOIN (
{% for node in g.nodes %}
    SELECT {{ loop.index0 }} AS level, {{ node.look }} AS node, {{ node.loss }} AS loss,
        (count(*) - 1)::double precision / greatest(1, (SELECT count(*) FROM {{ g.table }}) - 1) AS share
    FROM {{ g.table }} GROUP BY {{ node.name }}, {{ node.loss }}
    {% if not loop.last %}UNION ALL{% endif %}
{% endfor %}
) AS known ON known.level = seen.level AND known.node = seen.cell

-- name: recount/seen_classes(): Classes as readers tell them apart, of rows that are grouped by what is stored: here, or by the
-- statement around.
SELECT count(*) AS classes, coalesce(sum(n), 0)::bigint AS rows, coalesce(min(people), 0) AS smallest,
    coalesce(max(people), 0) AS largest, coalesce(sum(people), 0)::bigint AS memberships,
    coalesce(sum(n * pg_catalog.bit_count(hidden::bit(64))), 0)::bigint AS suppressed
FROM (
    SELECT hidden, sum(n)::bigint AS n,
        {% if entity %}count(person){% else %}sum(n)::bigint{% endif %} AS people
    FROM (
        SELECT
            {% for q in columns %}{{ q.alias }}, {% endfor %}
{% for q in columns %}
            (({{ q.is_suppressed }})::integer::bigint << {{ loop.index0 }}){% if not loop.last %} |{% endif %}
{% endfor %}
            AS hidden,
            {% if entity %}person,{% endif %}
            sum(n) AS n
        FROM {% if generalized %}held{% else %}(
{% include "recount/stored_rows" %}
        ) AS held{% endif %}
        GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}{% if entity %}person, {% endif %}hidden
    ) AS seen
    GROUP BY {% for q in columns %}{{ q.alias }}, {% endfor %}hidden
) AS class

-- name: recount/stored_rows(): The rows of a release that agree on pattern and cells, and on the person if several rows may be one's.
        SELECT kanon_pattern AS pattern,
            {% for q in columns %}{{ q.cell }} AS {{ q.alias }}, {% endfor %}
            {% if entity %}kanon_person AS person,{% endif %}
            count(*) AS n
        FROM {{ storage }}
        GROUP BY kanon_pattern{% for q in columns %}, {{ q.cell }}{% endfor %}{% if entity %}, kanon_person{% if on_nodes %}, kanon_place{% endif %}{% endif %}

-- name: recount_storage(): Classes of a release by pattern vector, counted on the published cells. People are grouped before they
-- are counted: a DISTINCT count would sort all rows by their cells, and hashing asks no collation. Where cells are generalized,
-- also classes as readers tell them apart, and what these cells cost, of the same groups: the rows are read once.
{% if generalized %}
WITH held AS MATERIALIZED (
{% include "recount/stored_rows" %}
)
{% endif %}
SELECT
    by_pattern.*{% if generalized %},
    seen.classes AS seen_classes, seen.memberships AS seen_memberships, seen.smallest AS seen_smallest,
    seen.largest AS seen_largest{% for g in generalized %},
    levels_{{ g.number }}.loss AS loss_{{ g.number }}, levels_{{ g.number }}.share AS share_{{ g.number }},
    levels_{{ g.number }}.levels AS levels_{{ g.number }},
    levels_{{ g.number }}.strange AS strange_{{ g.number }}{% endfor %}{% endif %}
FROM (
    SELECT pattern, count(*) AS classes, sum(n)::bigint AS rows, min(people) AS smallest, max(people) AS largest,
        sum(people)::bigint AS memberships,
        pg_catalog.bool_or(
{% for q in columns %}
            ({{ q.is_suppressed }} AND {{ q.alias }} IS NOT NULL){% if not loop.last %} OR{% endif %}
{% endfor %}
        ) AS leaks
    FROM (
        SELECT pattern,
            {% for q in columns %}{{ q.alias }}, {% endfor %}
            {% if entity %}sum(n)::bigint AS n, count(person) AS people{% else %}n, n AS people{% endif %}
        FROM {% if generalized %}held{% else %}(
{% include "recount/stored_rows" %}
        ) AS held{% endif %}
        {% if entity %}GROUP BY pattern{% for q in columns %}, {{ q.alias }}{% endfor %}{% endif %}
    ) AS class
    GROUP BY pattern
) AS by_pattern
{% if generalized %}
CROSS JOIN (
{% include "recount/seen_classes" %}
) AS seen
{% for g in generalized %}
CROSS JOIN (
{% include "recount/levels" %}
) AS levels_{{ g.number }}
{% endfor %}
{% endif %}

-- name: recount_seen(): Classes of a release as readers tell them apart: by the published cells and by which of them are
-- suppressed, not by levels, which nobody sees. Rows are grouped once by what is stored, then these groups by what is seen of
-- them.
{% include "recount/seen_classes" %}

-- name: recount_subsets(): The fewest people who share what a release shows of some columns together, of all sets of so many.
SELECT coalesce(min(people), 0) AS smallest
FROM (
    SELECT {% if entity %}count(DISTINCT person){% else %}sum(n)::bigint{% endif %} AS people
    FROM (
{% include "recount/stored_rows" %}
    ) AS held
    GROUP BY GROUPING SETS (
{% for combination in combinations %}
        ({% for q in combination %}{{ q.alias }}, ({{ q.is_suppressed }}){% if not loop.last %}, {% endif %}{% endfor %}){% if not loop.last %},{% endif %}
{% endfor %}
    )
) AS combination

-- name: count_people(): Distinct people of a release.
SELECT count(DISTINCT kanon_person) AS people FROM {{ storage }}

-- name: count_rows(): How many rows a relation has.
SELECT count(*) AS rows FROM {{ relation }} AS counted
