-- The owner role's part of kanon_unlink.
CREATE OR REPLACE FUNCTION kanon.unlink(child regclass)
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
return plpython.releases.unlink(*args)
$function$;
ALTER FUNCTION kanon.unlink OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.unlink FROM PUBLIC;
COMMENT ON FUNCTION kanon.unlink IS
'Forgets whose people the rows of a table belong to; called by kanon_unlink.';
GRANT EXECUTE ON FUNCTION kanon.unlink TO kanon_curator;
