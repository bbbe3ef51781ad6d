-- The size of a database grows with tables that only answer queries: nothing is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_database_size(database name)
RETURNS bigint
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT NULL::bigint;
END;
ALTER FUNCTION kanon_catalog.pg_database_size OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_database_size FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_database_size TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_database_size IS
'Stands for pg_catalog.pg_database_size where tools ask through the gateway.';
