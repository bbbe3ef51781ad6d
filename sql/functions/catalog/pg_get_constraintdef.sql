-- The text of a constraint, if it is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_constraintdef(object oid, pretty boolean DEFAULT false)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT pg_catalog.pg_get_constraintdef(object, pretty)
    WHERE EXISTS (SELECT FROM kanon_catalog.pg_constraint AS c WHERE c.oid = object);
END;
ALTER FUNCTION kanon_catalog.pg_get_constraintdef OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_constraintdef FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_constraintdef TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_constraintdef IS
'Stands for pg_catalog.pg_get_constraintdef where tools ask through the gateway.';
