-- The text of an index, if it is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_indexdef(object oid, place integer DEFAULT 0, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_indexdef(object, place, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_index AS c WHERE c.indexrelid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_indexdef OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_indexdef FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_indexdef TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_indexdef IS
'Stands for pg_catalog.pg_get_indexdef where tools ask through the gateway.';
