{# What the published cells of one generalized column cost, by the release's own copy of its hierarchy: by the loss
   that was asked for, as the share of values that they stand for, and in levels. And whether there are cells that
   this copy does not have at their level, or below the lowest level. Of rows that the statement around has grouped. #}
SELECT
    coalesce(sum(seen.n * CASE
        WHEN seen.level >= {{ g.height }} THEN 1
        WHEN seen.cell IS NULL THEN ({{ g.null_losses }})[seen.level + 1]
        ELSE known.loss
    END), 0)::double precision AS loss,
    coalesce(sum(seen.n * CASE
        WHEN seen.level >= {{ g.height }} THEN 1
        WHEN seen.cell IS NULL THEN 0
        ELSE known.share
    END), 0)::double precision AS share,
    coalesce(sum(seen.n * seen.level), 0)::double precision AS levels,
    coalesce(pg_catalog.bool_or(
        seen.level > {{ g.height }} OR seen.level < {{ g.lowest }}
        OR (seen.level < {{ g.height }} AND seen.cell IS NOT NULL AND known.node IS NULL)
    ), false) AS strange
FROM (
    SELECT stored.level, stored.cell, sum(stored.n)::bigint AS n
    FROM (
        SELECT (pattern >> {{ g.offset }}) & {{ g.mask }} AS level, {{ g.cell }} AS cell, sum(n) AS n
        FROM held
        GROUP BY 1, 2
    ) AS stored
    GROUP BY 1, 2
) AS seen
LEFT JOIN (
{% for node in g.nodes %}
    SELECT
        {{ loop.index0 }} AS level,
        {{ node.look }} AS node,
        {{ node.loss }} AS loss,
        (count(*) - 1)::double precision / greatest(1, (SELECT count(*) FROM {{ g.table }}) - 1) AS share
    FROM {{ g.table }}
    GROUP BY {{ node.name }}, {{ node.loss }}
{% if not loop.last %}
    UNION ALL
{% endif %}
{% endfor %}
) AS known ON known.level = seen.level AND known.node = seen.cell
