-- What was installed, and what uninstalling has to give back.
CREATE TABLE IF NOT EXISTS kanon.version (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version text NOT NULL,
    api_schema name NOT NULL,
    plpython boolean NOT NULL,
    created_extension boolean NOT NULL DEFAULT false,
    created_api_schema boolean NOT NULL DEFAULT false,
    revoked_temporary boolean NOT NULL DEFAULT false,
    revoked_create_database boolean NOT NULL DEFAULT false,
    revoked_create_schemas name[] NOT NULL DEFAULT '{}',
    installed_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    updated_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.version OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.version FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.version TO kanon_owner;
COMMENT ON TABLE kanon.version IS 'One row: the installed version and what the installation changed outside its schemas.';
COMMENT ON COLUMN kanon.version.only_row IS 'Always true; keeps the table at one row.';
COMMENT ON COLUMN kanon.version.version IS 'Version of the SQL objects; the Python package must have the same.';
COMMENT ON COLUMN kanon.version.api_schema IS 'Schema of the kanon_... functions.';
COMMENT ON COLUMN kanon.version.plpython IS 'Whether the functions exist in the server, or only the client can work.';
COMMENT ON COLUMN kanon.version.created_extension IS 'Whether the installation created the extension plpython3u.';
COMMENT ON COLUMN kanon.version.created_api_schema IS 'Whether the installation created the schema of the functions.';
COMMENT ON COLUMN kanon.version.revoked_temporary IS 'Whether PUBLIC had TEMPORARY on the database before.';
COMMENT ON COLUMN kanon.version.revoked_create_database IS 'Whether PUBLIC had CREATE on the database before.';
COMMENT ON COLUMN kanon.version.revoked_create_schemas IS 'Schemas on which PUBLIC had CREATE before.';
COMMENT ON COLUMN kanon.version.installed_at IS 'When kanon was first installed into this database.';
COMMENT ON COLUMN kanon.version.updated_at IS 'When it was last installed.';
