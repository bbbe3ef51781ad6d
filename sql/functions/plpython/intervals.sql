-- Groups the values of an ordered column into intervals, with the caller's own rights; kanon_pg/grouping/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.intervals(
{{ intervals.inner_parameters }}
)
RETURNS SETOF kanon.value_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.intervals(*args)
$function$;
ALTER FUNCTION kanon.intervals OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.intervals FROM PUBLIC;
COMMENT ON FUNCTION kanon.intervals IS
'Groups the values of an ordered column into intervals; called by kanon_intervals.';
GRANT EXECUTE ON FUNCTION kanon.intervals TO kanon_analyst;
