-- Whether the records of answers can be used, for curators. A function, not a view: it reads files.
CREATE OR REPLACE FUNCTION kanon.record_states()
RETURNS TABLE (relation text, ok boolean, problem text, remedy text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.record_states()
$function$;
ALTER FUNCTION kanon.record_states OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.record_states FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.record_states TO kanon_curator;
COMMENT ON FUNCTION kanon.record_states IS
'Whether each record of answers can be used; what is wrong and what to do; called by the view of the same name.
Example: SELECT * FROM kanon.record_states() WHERE NOT ok;';
