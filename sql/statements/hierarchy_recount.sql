-- Counts the nodes of a stored hierarchy anew after it lost values; what it was made with may have them, and goes.
-- $1 text
UPDATE kanon.hierarchy AS h SET
    spec = '{}',
    nodes = ARRAY(
        SELECT CASE
            WHEN l.level = 0 THEN count(v.value)
            WHEN l.level = h.height THEN 1
            ELSE count(DISTINCT v.nodes[l.level])
        END::integer
        FROM pg_catalog.generate_series(0, h.height) AS l (level)
        LEFT JOIN kanon.hierarchy_value AS v ON v.hierarchy = h.name AND v.version = h.version
        GROUP BY l.level
        ORDER BY l.level
    )
WHERE h.name = $1::text
