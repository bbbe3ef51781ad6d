-- The owner role's part of kanon_composition; kanon_pg/release/compare/composition.py has the arguments.
CREATE OR REPLACE FUNCTION kanon.composition(
{{ composition.inner_parameters }}
)
RETURNS SETOF kanon.composition
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.releases.composition(*args)
$function$;
ALTER FUNCTION kanon.composition OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.composition FROM PUBLIC;
COMMENT ON FUNCTION kanon.composition IS
'Says what several releases disclose together; called by kanon_composition.';
GRANT EXECUTE ON FUNCTION kanon.composition TO kanon_curator;
