-- The roles that columns of a table play.
CREATE TABLE IF NOT EXISTS kanon.declaration (
    relation regclass PRIMARY KEY,
    identifiers name[] NOT NULL DEFAULT '{}',
    quasi_identifiers name[] NOT NULL DEFAULT '{}',
    sensitive name[] NOT NULL DEFAULT '{}',
    insensitive name[] NOT NULL DEFAULT '{}',
    entity name,
    weights jsonb,
    row_types_view name,
    declared_by name NOT NULL,
    declared_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.declaration OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.declaration FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.declaration TO kanon_owner;
COMMENT ON TABLE kanon.declaration IS 'The roles that columns of a table play, as declared with kanon_declare.';
COMMENT ON COLUMN kanon.declaration.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.declaration.identifiers IS 'Columns that name a person; never published.';
COMMENT ON COLUMN kanon.declaration.quasi_identifiers IS 'Columns that can be linked with other sources.';
COMMENT ON COLUMN kanon.declaration.sensitive IS 'Columns that must not be learned about a person; published unchanged.';
COMMENT ON COLUMN kanon.declaration.insensitive IS 'Columns published unchanged that tell nothing about a person.';
COMMENT ON COLUMN kanon.declaration.entity IS 'Column that identifies a person who may have several rows; NULL: each row is a person.';
COMMENT ON COLUMN kanon.declaration.weights IS 'Cost of a suppressed cell per column; 1 where not mentioned.';
COMMENT ON COLUMN kanon.declaration.row_types_view IS 'View in schema kanon that counts the row types.';
COMMENT ON COLUMN kanon.declaration.declared_by IS 'Who declared it.';
COMMENT ON COLUMN kanon.declaration.declared_at IS 'When it was declared.';
GRANT SELECT ON TABLE kanon.declaration TO kanon_reader;
