-- The owner role's part of kanon_refresh.
CREATE OR REPLACE FUNCTION kanon.refresh(release text)
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
return plpython.releases.refresh(*args)
$function$;
ALTER FUNCTION kanon.refresh OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.refresh FROM PUBLIC;
COMMENT ON FUNCTION kanon.refresh IS
'Brings a release up to date; called by kanon_refresh.';
GRANT EXECUTE ON FUNCTION kanon.refresh TO kanon_curator;
