-- The owner role's part of kanon_unprotect.
CREATE OR REPLACE FUNCTION kanon.unprotect(relation regclass)
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
return plpython.queries.unprotect(*args)
$function$;
ALTER FUNCTION kanon.unprotect OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.unprotect FROM PUBLIC;
COMMENT ON FUNCTION kanon.unprotect IS
'Removes the rules under which a table answers queries; called by kanon_unprotect.';
GRANT EXECUTE ON FUNCTION kanon.unprotect TO kanon_curator;
