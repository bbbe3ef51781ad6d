-- The owner role's part of storing hierarchies.
CREATE OR REPLACE FUNCTION kanon.store_hierarchy(hierarchy text, definition jsonb)
RETURNS integer
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.store_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.store_hierarchy OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.store_hierarchy FROM PUBLIC;
COMMENT ON FUNCTION kanon.store_hierarchy IS
'Checks a hierarchy and stores it; called by kanon_hierarchy_define, kanon_hierarchy_load and kanon_hierarchy_build.';
GRANT EXECUTE ON FUNCTION kanon.store_hierarchy TO kanon_curator;
