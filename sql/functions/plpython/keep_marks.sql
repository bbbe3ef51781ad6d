CREATE OR REPLACE FUNCTION kanon.keep_marks() RETURNS void
LANGUAGE plpython3u VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS $function$
if "kanon" not in GD: plpy.error("kanon: An inner function was called directly.", sqlstate="KA102", hint="Call kanon_query instead.")
from kanon_pg import plpython
return plpython.queries.keep_marks()
$function$;
COMMENT ON FUNCTION kanon.keep_marks IS 'Stores how far records of answers were written; called for kanon_query.';
GRANT EXECUTE ON FUNCTION kanon.keep_marks TO kanon_analyst;
