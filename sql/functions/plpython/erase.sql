-- The owner role's part of kanon_erase.
CREATE OR REPLACE FUNCTION kanon.erase(release text, person text[])
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
return plpython.releases.erase(*args)
$function$;
ALTER FUNCTION kanon.erase OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.erase FROM PUBLIC;
COMMENT ON FUNCTION kanon.erase IS
'Erases a person from a release over time; called by kanon_erase.';
GRANT EXECUTE ON FUNCTION kanon.erase TO kanon_curator;
