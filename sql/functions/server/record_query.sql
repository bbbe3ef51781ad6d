-- What kanon_query_record runs for a query.
CREATE OR REPLACE FUNCTION kanon.record_query(sql text, schemas name[], OUT statement text, OUT columns text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import server
return server.queries.record_query(*args)
$function$;
ALTER FUNCTION kanon.record_query OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.record_query FROM PUBLIC;
COMMENT ON FUNCTION kanon.record_query IS
'The statement that turns the answer of a query into typed rows, and the list of their columns.';
GRANT EXECUTE ON FUNCTION kanon.record_query TO kanon_analyst;
