-- The owner role's part of kanon_hierarchy_drop.
CREATE OR REPLACE FUNCTION kanon.drop_hierarchy(hierarchy text)
RETURNS void
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.drop_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.drop_hierarchy OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.drop_hierarchy FROM PUBLIC;
COMMENT ON FUNCTION kanon.drop_hierarchy IS
'Forgets a hierarchy; called by kanon_hierarchy_drop.';
GRANT EXECUTE ON FUNCTION kanon.drop_hierarchy TO kanon_curator;
