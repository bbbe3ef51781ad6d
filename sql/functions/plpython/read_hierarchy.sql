-- Reads a hierarchy from a table with the caller's own rights; kanon_pg/hierarchies/operations.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.read_hierarchy(
{{ hierarchy_load.inner_parameters }}
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
return plpython.releases.read_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.read_hierarchy OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.read_hierarchy FROM PUBLIC;
COMMENT ON FUNCTION kanon.read_hierarchy IS
'Reads a hierarchy from a table; called by kanon_hierarchy_load.';
GRANT EXECUTE ON FUNCTION kanon.read_hierarchy TO kanon_curator;
