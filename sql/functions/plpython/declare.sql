-- The owner role's part of kanon_declare; kanon_pg/release/plan/request.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.declare(
{{ declare.inner_parameters }}
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
return plpython.releases.declare(*args)
$function$;
ALTER FUNCTION kanon.declare OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.declare FROM PUBLIC;
COMMENT ON FUNCTION kanon.declare IS
'Records the roles of a table''s columns; called by kanon_declare.';
GRANT EXECUTE ON FUNCTION kanon.declare TO kanon_curator;
