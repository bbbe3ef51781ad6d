CREATE OR REPLACE FUNCTION kanon.hold_relations() RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET client_min_messages = error SET exit_on_error = off SET plan_cache_mode = force_generic_plan SET jit = off
AS $function$
if "kanon" not in GD: plpy.error("kanon: An inner function was called directly.", sqlstate="KA102", hint="Call kanon_query instead.")
from kanon_pg import plpython
return plpython.queries.hold_relations()
$function$;
ALTER FUNCTION kanon.hold_relations OWNER TO kanon_reader;
COMMENT ON FUNCTION kanon.hold_relations IS 'Keeps the relations that a query may name from being exchanged; called for kanon_query.';
GRANT EXECUTE ON FUNCTION kanon.hold_relations TO kanon_analyst;
