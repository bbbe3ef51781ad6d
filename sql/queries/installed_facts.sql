-- The versions of the SQL objects and of the server.
SELECT v.version AS sql_version, pg_catalog.current_setting('server_version') AS server_version, v.api_schema::text AS api_schema
FROM kanon.version AS v
