-- Proposes roles of columns with the caller's own rights; kanon_pg/audit/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.suggest(
{{ suggest.inner_parameters }}
)
RETURNS SETOF kanon.suggestion
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.suggest(*args)
$function$;
ALTER FUNCTION kanon.suggest OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.suggest FROM PUBLIC;
COMMENT ON FUNCTION kanon.suggest IS
'Proposes roles of columns; called by kanon_suggest.';
GRANT EXECUTE ON FUNCTION kanon.suggest TO kanon_analyst;
