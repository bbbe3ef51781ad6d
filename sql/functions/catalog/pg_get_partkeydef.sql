-- The key of a partitioned table, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_partkeydef(relation oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_partkeydef(relation)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_get_partkeydef OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_partkeydef FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_partkeydef TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_partkeydef IS
'Stands for pg_catalog.pg_get_partkeydef where tools ask through the gateway.';
