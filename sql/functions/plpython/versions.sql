-- The owner role's part of kanon_version.
CREATE OR REPLACE FUNCTION kanon.versions()
RETURNS TABLE (sql_version text, package_version text, python_version text, server_version text, installed_by text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.installation.version()
$function$;
ALTER FUNCTION kanon.versions OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.versions FROM PUBLIC;
COMMENT ON FUNCTION kanon.versions IS
'Shows versions; called by kanon_version.';
GRANT EXECUTE ON FUNCTION kanon.versions TO kanon_analyst;
