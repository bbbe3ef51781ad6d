-- Computes a suppression curve with the caller's own rights; kanon_pg/curves.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.curve(
{{ curve.inner_parameters }}
)
RETURNS SETOF kanon.curve_point
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.analyses.curve(*args)
$function$;
ALTER FUNCTION kanon.curve OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.curve FROM PUBLIC;
COMMENT ON FUNCTION kanon.curve IS
'Shows what each of several k would cost; called by kanon_curve.';
GRANT EXECUTE ON FUNCTION kanon.curve TO kanon_curator;
