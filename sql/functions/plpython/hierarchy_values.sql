-- The owner role's part of kanon_hierarchy_values.
CREATE OR REPLACE FUNCTION kanon.hierarchy_values(hierarchy text)
RETURNS TABLE (value text, nodes text[])
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.hierarchy_values(*args)
$function$;
ALTER FUNCTION kanon.hierarchy_values OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.hierarchy_values FROM PUBLIC;
COMMENT ON FUNCTION kanon.hierarchy_values IS
'Returns the values of a hierarchy; called by kanon_hierarchy_values.';
GRANT EXECUTE ON FUNCTION kanon.hierarchy_values TO kanon_curator;
