-- Checks the installation.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_install_check()
RETURNS TABLE (item text, ok boolean, detail text, hint text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.install_check()
$function$;
ALTER FUNCTION {{ api }}.kanon_install_check() OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_install_check() FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_install_check() IS
'Proves on this server that everything works, in seconds; leaves nothing behind.
Example: SELECT * FROM kanon_install_check();';
