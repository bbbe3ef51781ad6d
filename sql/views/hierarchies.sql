-- The stored hierarchies in their latest versions; what may hold values is shown to those who may see them.
CREATE OR REPLACE VIEW kanon.hierarchies (
    hierarchy, -- Name of the hierarchy.
    version, -- Counts up each time that the name is stored again.
    description, -- What its maker says of it.
    kind, -- Where it comes from: rows, table, taxonomy, or the name of a builder.
    spec, -- What it was made with; NULL if it is somebody else's and not shared.
    output, -- Type of its nodes, and of a column published with it: text or a range type.
    height, -- The top level, at which a cell is suppressed.
    nodes, -- Different nodes per level, from the values (level 0) to the top.
    shared, -- Whether every curator may see and use it; else its maker only.
    created_by, -- Who stored it.
    created_at -- When it was stored.
) AS
SELECT h.name AS hierarchy, h.version, h.description, h.kind,
    CASE WHEN h.shared OR pg_catalog.pg_has_role(maker.role, 'USAGE') THEN h.spec END AS spec, h.output, h.height, h.nodes,
    h.shared, h.created_by, h.created_at
FROM kanon.hierarchy AS h
CROSS JOIN LATERAL (SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by::text))::oid AS role) AS maker
WHERE NOT EXISTS (SELECT FROM kanon.hierarchy AS later WHERE later.name = h.name AND later.version > h.version);
COMMENT ON VIEW kanon.hierarchies IS 'The stored generalization hierarchies in their latest versions.';
GRANT SELECT ON TABLE kanon.hierarchies TO kanon_owner, kanon_curator;
