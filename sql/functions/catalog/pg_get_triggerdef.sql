-- The text of a trigger, for those who may read its relation.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_triggerdef(object oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_triggerdef(object, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_trigger AS c WHERE c.oid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_triggerdef OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_triggerdef FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_triggerdef TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_triggerdef IS
'Stands for pg_catalog.pg_get_triggerdef where tools ask through the gateway.';
