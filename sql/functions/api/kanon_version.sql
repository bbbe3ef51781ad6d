-- Shows versions; kanon.boot() refuses a package of another version.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_version()
RETURNS TABLE (sql_version text, package_version text, python_version text, server_version text, installed_by text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.version()
$function$;
ALTER FUNCTION {{ api }}.kanon_version() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_version() FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_version() IS
'Shows the versions of the SQL objects, the Python package, the server''s Python and the server, and whether the objects are an extension or made by kanon install; refuses a mismatch.
Example: SELECT * FROM kanon_version();';
