-- Stored generalization hierarchies, one row per version.
CREATE TABLE IF NOT EXISTS kanon.hierarchy (
    name text NOT NULL,
    version integer NOT NULL CHECK (version >= 1),
    description text,
    kind text NOT NULL,
    spec jsonb NOT NULL,
    output text NOT NULL CHECK (
        output IN ('text', 'int4range', 'int8range', 'numrange', 'daterange', 'tsrange', 'tstzrange')
    ),
    height integer NOT NULL CHECK (height >= 1),
    nodes integer[] NOT NULL,
    shared boolean NOT NULL DEFAULT false,
    created_by name NOT NULL,
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (name, version)
);
ALTER TABLE kanon.hierarchy OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.hierarchy FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.hierarchy TO kanon_owner;
COMMENT ON TABLE kanon.hierarchy IS 'Stored generalization hierarchies, one row per version; read kanon.hierarchies instead.';
COMMENT ON COLUMN kanon.hierarchy.name IS 'Name of the hierarchy.';
COMMENT ON COLUMN kanon.hierarchy.version IS 'Counts up each time that the name is stored again.';
COMMENT ON COLUMN kanon.hierarchy.description IS 'What its maker says of it.';
COMMENT ON COLUMN kanon.hierarchy.kind IS 'Where it comes from: rows, table, taxonomy, or the name of a builder.';
COMMENT ON COLUMN kanon.hierarchy.spec IS 'What it was made with; may contain values.';
COMMENT ON COLUMN kanon.hierarchy.output IS 'Type of its nodes, and of a column published with it: text or a range type.';
COMMENT ON COLUMN kanon.hierarchy.height IS 'The top level, at which a cell is suppressed.';
COMMENT ON COLUMN kanon.hierarchy.nodes IS 'Different nodes per level, from the values (level 0) to the top.';
COMMENT ON COLUMN kanon.hierarchy.shared IS 'Whether every curator may see and use it; else its maker only.';
COMMENT ON COLUMN kanon.hierarchy.created_by IS 'Who stored it.';
COMMENT ON COLUMN kanon.hierarchy.created_at IS 'When it was stored.';
