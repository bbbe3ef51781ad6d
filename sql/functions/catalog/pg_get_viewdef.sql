-- The text of a view, for those who may read it.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_viewdef(relation oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_viewdef(relation, pretty)
    WHERE pg_catalog.has_table_privilege(relation, 'SELECT');
END;
ALTER FUNCTION kanon_catalog.pg_get_viewdef OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_viewdef FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_viewdef TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_viewdef IS
'Stands for pg_catalog.pg_get_viewdef where tools ask through the gateway.';
