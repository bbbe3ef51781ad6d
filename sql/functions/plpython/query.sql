-- Hands a query over, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.query(sql text, parameters text[], schemas name[])
RETURNS SETOF jsonb
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.query(*args)
$function$;
ALTER FUNCTION kanon.query OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.query FROM PUBLIC;
COMMENT ON FUNCTION kanon.query IS
'Answers a query; called by kanon_query.';
GRANT EXECUTE ON FUNCTION kanon.query TO kanon_analyst;
