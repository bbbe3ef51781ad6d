-- Measures with the caller's own rights; kanon_pg/measures.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.measure(
{{ measure.inner_parameters }}
)
RETURNS kanon.measures
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.measure(*args)
$function$;
ALTER FUNCTION kanon.measure OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.measure FROM PUBLIC;
COMMENT ON FUNCTION kanon.measure IS
'Measures the anonymity of a table or view; called by kanon_measure.';
GRANT EXECUTE ON FUNCTION kanon.measure TO kanon_analyst;
