-- Builds a hierarchy over a column with the caller's own rights; kanon_pg/hierarchies/operations.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.build_hierarchy(
{{ hierarchy_build.inner_parameters }}
)
RETURNS jsonb
LANGUAGE plpython3u
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET datestyle = 'ISO, YMD'
SET extra_float_digits = 1
SET bytea_output = 'hex'
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.build_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.build_hierarchy OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.build_hierarchy FROM PUBLIC;
COMMENT ON FUNCTION kanon.build_hierarchy IS
'Builds a hierarchy over a column; called by kanon_hierarchy_build.';
GRANT EXECUTE ON FUNCTION kanon.build_hierarchy TO kanon_curator;
