-- The owner role's part of kanon_hierarchy_show; kanon_pg/hierarchies/operations.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.show_hierarchy(
{{ hierarchy_show.inner_parameters }}
)
RETURNS SETOF text
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.show_hierarchy(*args)
$function$;
ALTER FUNCTION kanon.show_hierarchy OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.show_hierarchy FROM PUBLIC;
COMMENT ON FUNCTION kanon.show_hierarchy IS
'Shows a hierarchy as a tree; called by kanon_hierarchy_show.';
GRANT EXECUTE ON FUNCTION kanon.show_hierarchy TO kanon_curator;
