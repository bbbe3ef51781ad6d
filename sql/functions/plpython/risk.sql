-- Says how likely people are found again, with the caller's own rights; kanon_pg/audit/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.risk(
{{ risk.inner_parameters }}
)
RETURNS SETOF kanon.risk
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.risk(*args)
$function$;
ALTER FUNCTION kanon.risk OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.risk FROM PUBLIC;
COMMENT ON FUNCTION kanon.risk IS
'Says how likely people are found again; called by kanon_risk.';
GRANT EXECUTE ON FUNCTION kanon.risk TO kanon_analyst;
