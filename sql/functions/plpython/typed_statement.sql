-- What kanon_query_record runs for a query.
CREATE OR REPLACE FUNCTION kanon.typed_statement(sql text, schemas name[], OUT statement text, OUT columns text)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.typed_statement(*args)
$function$;
ALTER FUNCTION kanon.typed_statement OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.typed_statement FROM PUBLIC;
COMMENT ON FUNCTION kanon.typed_statement IS
'The statement that turns the answer of a query into typed rows, and the list of their columns.';
GRANT EXECUTE ON FUNCTION kanon.typed_statement TO kanon_analyst;
