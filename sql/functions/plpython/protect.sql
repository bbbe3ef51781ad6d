-- The owner role's part of kanon_protect; kanon_pg/queries/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.protect(
{{ protect.inner_parameters }}
)
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
return plpython.queries.protect(*args)
$function$;
ALTER FUNCTION kanon.protect OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.protect FROM PUBLIC;
COMMENT ON FUNCTION kanon.protect IS
'Stores the rules under which a table answers queries; called by kanon_protect.';
GRANT EXECUTE ON FUNCTION kanon.protect TO kanon_curator;
