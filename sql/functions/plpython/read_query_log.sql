-- The owner role's part of kanon.query_log.
CREATE OR REPLACE FUNCTION kanon.read_query_log()
RETURNS TABLE (
    relation text,
    entry bigint,
    asked_at timestamptz,
    login text,
    role text,
    query text,
    parameters text[],
    outcome text,
    reason text,
    blocked_by bigint[],
    forgotten boolean
)
LANGUAGE plpython3u
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
plpy.execute("select kanon.boot()")
from kanon_pg import plpython
return plpython.queries.query_log()
$function$;
ALTER FUNCTION kanon.read_query_log OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.read_query_log FROM PUBLIC;
GRANT EXECUTE ON FUNCTION kanon.read_query_log TO kanon_curator;
COMMENT ON FUNCTION kanon.read_query_log IS
'Reads the log of queries; called by kanon.query_log.';
