-- Finds few columns that tell rows apart as well as all do, with the caller's own rights; kanon_pg/audit/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.identify(
{{ identify.inner_parameters }}
)
RETURNS SETOF kanon.identifying_set
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.identify(*args)
$function$;
ALTER FUNCTION kanon.identify OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.identify FROM PUBLIC;
COMMENT ON FUNCTION kanon.identify IS
'Finds few columns that tell rows apart as well as all do; called by kanon_identify.';
GRANT EXECUTE ON FUNCTION kanon.identify TO kanon_analyst;
