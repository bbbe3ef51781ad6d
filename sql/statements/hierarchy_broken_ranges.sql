-- The lowest level, if any, at which ranges do not hold their values, do not nest, or overlap. The arrays hold each
-- node once, with its level and the node above it.
-- $1 text
-- $2 integer
-- $3 integer[]
-- $4 text[]
-- $5 text[]
WITH nodes AS (
    SELECT u.level, u.node::{{ range }} AS span, u.above::{{ range }} AS above
    FROM ROWS FROM (pg_catalog.unnest($3::integer[]), pg_catalog.unnest($4::text[]), pg_catalog.unnest($5::text[])) AS u (level, node, above)
),

neighbours AS (
    SELECT level, span, pg_catalog.lag(span) OVER (PARTITION BY level ORDER BY span) AS previous
    FROM nodes
)

SELECT
    (
        SELECT 1
        FROM kanon.hierarchy_value AS v
        WHERE v.hierarchy = $1 AND v.version = $2 AND NOT v.nodes[1]::{{ range }} @> v.value::{{ element }}
        LIMIT 1
    ) AS misplaced,
    (SELECT min(level) FROM nodes WHERE NOT above @> span) AS torn,
    (SELECT min(level) FROM neighbours WHERE span && previous) AS overlapping
