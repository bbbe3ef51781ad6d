-- Groups the values of a column into regions of neighbours, with the caller's own rights; kanon_pg/grouping/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.regions(
{{ regions.inner_parameters }}
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
return plpython.analyses.regions(*args)
$function$;
ALTER FUNCTION kanon.regions OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.regions FROM PUBLIC;
COMMENT ON FUNCTION kanon.regions IS
'Groups the values of a column into regions of neighbours; called by kanon_regions.';
GRANT EXECUTE ON FUNCTION kanon.regions TO kanon_analyst;
