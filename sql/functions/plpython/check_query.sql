-- Checks a query, with the caller's own rights.
CREATE OR REPLACE FUNCTION kanon.check_query(
    sql text,
    schemas name[],
    OUT accepted boolean,
    OUT findings jsonb,
    OUT canonical_sql text
)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.check_query(*args)
$function$;
ALTER FUNCTION kanon.check_query OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.check_query FROM PUBLIC;
COMMENT ON FUNCTION kanon.check_query IS
'Checks a query; called by kanon_check_query.';
GRANT EXECUTE ON FUNCTION kanon.check_query TO kanon_analyst;
