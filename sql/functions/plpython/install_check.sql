-- The owner role's part of kanon_install_check.
CREATE OR REPLACE FUNCTION kanon.install_check()
RETURNS TABLE (item text, ok boolean, detail text, hint text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.installation.install_check()
$function$;
ALTER FUNCTION kanon.install_check OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.install_check FROM PUBLIC;
COMMENT ON FUNCTION kanon.install_check IS
'Proves that everything works; called by kanon_install_check.';
GRANT EXECUTE ON FUNCTION kanon.install_check TO kanon_analyst;
