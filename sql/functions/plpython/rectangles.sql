-- Groups points into rectangles, with the caller's own rights; kanon_pg/grouping/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.rectangles(
{{ rectangles.inner_parameters }}
)
RETURNS SETOF kanon.point_class
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.rectangles(*args)
$function$;
ALTER FUNCTION kanon.rectangles OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.rectangles FROM PUBLIC;
COMMENT ON FUNCTION kanon.rectangles IS
'Groups points into rectangles; called by kanon_rectangles.';
GRANT EXECUTE ON FUNCTION kanon.rectangles TO kanon_analyst;
