-- The body of a function can hold values: nothing is shown.
CREATE OR REPLACE FUNCTION kanon_catalog.pg_get_function_sqlbody(function oid)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT NULL::text;
END;
ALTER FUNCTION kanon_catalog.pg_get_function_sqlbody OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon_catalog.pg_get_function_sqlbody FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon_catalog.pg_get_function_sqlbody TO kanon_analyst;
COMMENT ON FUNCTION kanon_catalog.pg_get_function_sqlbody IS
'Stands for pg_catalog.pg_get_function_sqlbody where tools ask through the gateway.';
