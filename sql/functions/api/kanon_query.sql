-- Answers a query, one JSON object per row. The default of `schemas` is evaluated where the caller can see it:
-- inside, the search path is pinned. Debug messages about subtransactions would tell how far a withheld query came.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_query(
    sql text,
    parameters text[] DEFAULT NULL,
    schemas name[] DEFAULT pg_catalog.current_schemas(false)
)
RETURNS SETOF jsonb
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS $function$
BEGIN
    RETURN QUERY SELECT q.answer FROM kanon.query(sql, parameters, schemas) AS q (answer);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_query OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION {{ api }}.kanon_query FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_query IS
'Answers a query about protected tables. Only if at least k people stand behind every part of the answer.
Arguments:
sql: One SELECT.
parameters: Values of $1, $2 and so on.
schemas: Where names are looked up; your search path unless given.
Example: SELECT * FROM kanon_query(''SELECT diagnosis, count(*) FROM patients GROUP BY diagnosis'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_query TO kanon_analyst;
