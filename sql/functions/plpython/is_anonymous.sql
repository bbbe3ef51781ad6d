-- Tests k-anonymity with the caller's own rights; kanon_pg/audit/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.is_anonymous(
{{ is_anonymous.inner_parameters }}
)
RETURNS boolean
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.is_anonymous(*args)
$function$;
ALTER FUNCTION kanon.is_anonymous OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.is_anonymous FROM PUBLIC;
COMMENT ON FUNCTION kanon.is_anonymous IS
'Tests k-anonymity; called by kanon_is_anonymous.';
GRANT EXECUTE ON FUNCTION kanon.is_anonymous TO kanon_analyst;
