-- The owner role's part of kanon_link; kanon_pg/release/declare/linking.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.link(
{{ link.inner_parameters }}
)
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
return plpython.releases.link(*args)
$function$;
ALTER FUNCTION kanon.link OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.link FROM PUBLIC;
COMMENT ON FUNCTION kanon.link IS
'Says whose people the rows of a table belong to; called by kanon_link.';
GRANT EXECUTE ON FUNCTION kanon.link TO kanon_curator;
