-- The version row of the installation in this database.
SELECT
    v.version,
    v.api_schema::text AS api_schema,
    v.plpython,
    v.created_extension,
    v.created_api_schema,
    v.revoked_temporary,
    v.revoked_create_database,
    v.revoked_create_schemas::text[] AS revoked_create_schemas
FROM kanon.version AS v
