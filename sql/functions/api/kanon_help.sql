-- Lists the functions for users, from their comments.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_help()
RETURNS TABLE (function text, arguments text, description text, example text)
LANGUAGE sql
STABLE
PARALLEL SAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT
        p.proname::text,
        pg_catalog.pg_get_function_arguments(p.oid),
        pg_catalog.split_part(pg_catalog.obj_description(p.oid, 'pg_proc'), E'\nExample: ', 1),
        pg_catalog.split_part(pg_catalog.obj_description(p.oid, 'pg_proc'), E'\nExample: ', 2)
    FROM pg_catalog.pg_proc AS p
    WHERE pg_catalog.starts_with(p.proname, 'kanon_') AND pg_catalog.pg_get_userbyid(p.proowner) = 'kanon_owner'
    ORDER BY p.proname;
END;
ALTER FUNCTION {{ api }}.kanon_help() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_help() FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_help() IS
'Lists the functions of kanon with an example each.
Example: SELECT * FROM kanon_help();';
