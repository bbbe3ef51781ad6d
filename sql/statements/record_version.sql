-- Writes the version row; what an earlier installation created or revoked stays recorded.
-- $1 text
-- $2 text
-- $3 boolean
-- $4 boolean
-- $5 boolean
-- $6 boolean
-- $7 boolean
-- $8 text[]
INSERT INTO kanon.version AS v (
    version, api_schema, plpython, created_extension, created_api_schema, revoked_temporary,
    revoked_create_database, revoked_create_schemas
)
VALUES ($1, $2::name, $3, $4, $5, $6, $7, $8::name[])
ON CONFLICT (only_row) DO UPDATE SET
    version = excluded.version,
    api_schema = excluded.api_schema,
    plpython = excluded.plpython,
    created_extension = v.created_extension OR excluded.created_extension,
    created_api_schema = v.created_api_schema OR excluded.created_api_schema,
    revoked_temporary = v.revoked_temporary OR excluded.revoked_temporary,
    revoked_create_database = v.revoked_create_database OR excluded.revoked_create_database,
    revoked_create_schemas = v.revoked_create_schemas || excluded.revoked_create_schemas,
    updated_at = pg_catalog.now()
