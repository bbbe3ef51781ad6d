-- Does what the call asks for, with the rights of the reading role, in one snapshot, whatever the session has set.
-- It serves in a read-only transaction only, as the statement that calls it makes one.
CREATE OR REPLACE FUNCTION kanon.serve_query() RETURNS void
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET client_min_messages = error SET exit_on_error = off SET plan_cache_mode = force_generic_plan
SET datestyle = 'ISO, YMD' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
SET array_nulls = on SET lc_monetary = 'C' SET lc_numeric = 'C' SET lc_time = 'C' SET gin_fuzzy_search_limit = 0
SET jit = off
AS $function$
if "kanon" not in GD: plpy.error("kanon: An inner function was called directly.", sqlstate="KA102", hint="Call kanon_query instead.")
from kanon_pg import plpython
return plpython.queries.serve_query()
$function$;
ALTER FUNCTION kanon.serve_query OWNER TO kanon_reader;
COMMENT ON FUNCTION kanon.serve_query IS 'Checks or answers the query of the call; called for kanon_query.';
GRANT EXECUTE ON FUNCTION kanon.serve_query TO kanon_analyst;
