-- The owner role's part of kanon_drop.
CREATE OR REPLACE FUNCTION kanon.drop(release text)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.drop(*args)
$function$;
ALTER FUNCTION kanon.drop OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.drop FROM PUBLIC;
COMMENT ON FUNCTION kanon.drop IS
'Drops a release with its storage; called by kanon_drop.';
GRANT EXECUTE ON FUNCTION kanon.drop TO kanon_curator;
