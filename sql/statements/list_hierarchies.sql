-- The stored hierarchies in their latest versions.
SELECT
    hierarchy, version, description, kind, output, height, nodes, shared, created_by::text AS created_by,
    created_at::text AS created_at
FROM kanon.hierarchies
ORDER BY hierarchy
