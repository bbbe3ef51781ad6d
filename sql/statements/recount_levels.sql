-- What the published cells of one generalized column cost, by the release's own copy of its hierarchy: by the loss
-- that was asked for, as the share of values that they stand for, and in levels. And whether there are cells that
-- this copy does not have at their level, or below the lowest level.
SELECT
    coalesce(sum(seen.n * CASE
        WHEN seen.level >= {{ height }} THEN 1
        WHEN seen.cell IS NULL THEN ({{ null_losses }})[seen.level + 1]
        ELSE known.loss
    END), 0)::double precision AS loss,
    coalesce(sum(seen.n * CASE
        WHEN seen.level >= {{ height }} THEN 1
        WHEN seen.cell IS NULL THEN 0
        ELSE known.share
    END), 0)::double precision AS share,
    coalesce(sum(seen.n * seen.level), 0)::double precision AS levels,
    coalesce(pg_catalog.bool_or(
        seen.level > {{ height }} OR seen.level < {{ lowest }}
        OR (seen.level < {{ height }} AND seen.cell IS NOT NULL AND known.node IS NULL)
    ), false) AS strange
FROM (
    SELECT stored.level, stored.cell::text COLLATE "C" AS cell, sum(stored.n)::bigint AS n
    FROM (
        SELECT (kanon_pattern >> {{ offset }}) & {{ mask }} AS level, {{ output }} AS cell, count(*) AS n
        FROM {{ storage }}
        GROUP BY 1, 2
    ) AS stored
    GROUP BY 1, 2
) AS seen
LEFT JOIN (
{% for node in nodes %}
    SELECT
        {{ loop.index0 }} AS level,
        {{ node.name }}::text COLLATE "C" AS node,
        {{ node.loss }} AS loss,
        (count(*) - 1)::double precision / greatest(1, (SELECT count(*) FROM {{ table }}) - 1) AS share
    FROM {{ table }}
    GROUP BY {{ node.name }}, {{ node.loss }}
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
) AS known ON known.level = seen.level AND known.node = seen.cell
