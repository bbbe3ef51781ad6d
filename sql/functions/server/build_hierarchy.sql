-- Builds a hierarchy over a column with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.build_hierarchy(relation regclass, column_name name, spec jsonb, options jsonb)
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
from kanon_pg import server
return server.build_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.build_hierarchy OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.build_hierarchy FROM PUBLIC;
COMMENT ON FUNCTION kanon.build_hierarchy IS
'Builds a hierarchy over a column; called by kanon_hierarchy_build.';
