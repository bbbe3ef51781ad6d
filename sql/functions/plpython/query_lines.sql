-- Answers a query as texts: the first row has the names of the columns, the second their types.
CREATE OR REPLACE FUNCTION kanon.query_lines(
    query text,
    parameters text[] DEFAULT NULL,
    schemas name[] DEFAULT pg_catalog.current_schemas(false)
)
RETURNS TABLE (line text[])
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.query_lines(*args)
$function$;
ALTER FUNCTION kanon.query_lines OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.query_lines FROM PUBLIC;
COMMENT ON FUNCTION kanon.query_lines IS
'Answers a query for programs: lines of texts, first the names of the columns, then their types, then the rows.';
GRANT EXECUTE ON FUNCTION kanon.query_lines TO kanon_analyst;
