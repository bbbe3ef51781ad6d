-- The stored hierarchies in their latest versions; what may hold values is shown to those who may see them.
CREATE OR REPLACE VIEW kanon.hierarchies AS
SELECT
    h.name AS hierarchy,
    h.version,
    h.description,
    h.kind,
    CASE WHEN h.shared OR pg_catalog.pg_has_role(maker.role, 'USAGE') THEN h.spec END AS spec,
    h.output,
    h.height,
    h.nodes,
    h.shared,
    h.created_by,
    h.created_at
FROM kanon.hierarchy AS h
CROSS JOIN LATERAL (SELECT pg_catalog.to_regrole(pg_catalog.quote_ident(h.created_by::text))::oid AS role) AS maker
WHERE NOT EXISTS (SELECT FROM kanon.hierarchy AS later WHERE later.name = h.name AND later.version > h.version);
ALTER VIEW kanon.hierarchies OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.hierarchies FROM PUBLIC;
GRANT SELECT ON TABLE kanon.hierarchies TO kanon_owner;
COMMENT ON VIEW kanon.hierarchies IS 'The stored generalization hierarchies in their latest versions.';
COMMENT ON COLUMN kanon.hierarchies.hierarchy IS 'Name of the hierarchy.';
COMMENT ON COLUMN kanon.hierarchies.version IS 'Counts up each time that the name is stored again.';
COMMENT ON COLUMN kanon.hierarchies.description IS 'What its maker says of it.';
COMMENT ON COLUMN kanon.hierarchies.kind IS 'Where it comes from: rows, table, taxonomy, or the name of a builder.';
COMMENT ON COLUMN kanon.hierarchies.spec IS 'What it was made with; NULL if it is somebody else''s and not shared.';
COMMENT ON COLUMN kanon.hierarchies.output IS 'Type of its nodes, and of a column published with it: text or a range type.';
COMMENT ON COLUMN kanon.hierarchies.height IS 'The top level, at which a cell is suppressed.';
COMMENT ON COLUMN kanon.hierarchies.nodes IS 'Different nodes per level, from the values (level 0) to the top.';
COMMENT ON COLUMN kanon.hierarchies.shared IS 'Whether every curator may see and use it; else its maker only.';
COMMENT ON COLUMN kanon.hierarchies.created_by IS 'Who stored it.';
COMMENT ON COLUMN kanon.hierarchies.created_at IS 'When it was stored.';
GRANT SELECT ON TABLE kanon.hierarchies TO kanon_curator;
