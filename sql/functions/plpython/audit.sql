-- Finds the sets of columns that single people out, with the caller's own rights; kanon_pg/audit/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.audit(
{{ audit.inner_parameters }}
)
RETURNS SETOF kanon.violating_set
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.audit(*args)
$function$;
ALTER FUNCTION kanon.audit OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.audit FROM PUBLIC;
COMMENT ON FUNCTION kanon.audit IS
'Finds the sets of columns that single people out; called by kanon_audit.';
GRANT EXECUTE ON FUNCTION kanon.audit TO kanon_analyst;
