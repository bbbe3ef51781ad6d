-- The tables whose rows belong to people of other tables.
CREATE TABLE IF NOT EXISTS kanon.link (
    child regclass PRIMARY KEY,
    parent regclass NOT NULL,
    columns name[] NOT NULL,
    parent_columns name[] NOT NULL,
    linked_by name NOT NULL,
    linked_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.link OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.link FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.link TO kanon_owner;
COMMENT ON TABLE kanon.link IS 'The tables whose rows belong to people of other tables, as linked with kanon_link.';
COMMENT ON COLUMN kanon.link.child IS 'The table whose rows belong to somebody.';
COMMENT ON COLUMN kanon.link.parent IS 'The table that its foreign key refers to.';
COMMENT ON COLUMN kanon.link.columns IS 'Columns of the foreign key, by name.';
COMMENT ON COLUMN kanon.link.parent_columns IS 'What each of them refers to.';
COMMENT ON COLUMN kanon.link.linked_by IS 'Who linked it.';
COMMENT ON COLUMN kanon.link.linked_at IS 'When it was linked.';
GRANT SELECT ON TABLE kanon.link TO kanon_reader;
