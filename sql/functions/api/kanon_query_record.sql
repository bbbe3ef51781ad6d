-- Answers a query as rows of the types that the caller writes down. The types of the caller's list are converted
-- to with the caller's rights: they may be the caller's own. No debug messages leave it, as in kanon_query.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_query_record(
    sql text,
    parameters text[] DEFAULT NULL,
    schemas name[] DEFAULT pg_catalog.current_schemas(false)
)
RETURNS SETOF record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS $function$
DECLARE
    plan record;
    mismatch text;
BEGIN
    SELECT r.statement, r.columns INTO plan FROM kanon.typed_statement(sql, schemas) AS r;
    BEGIN
        RETURN QUERY EXECUTE plan.statement USING sql, parameters, schemas;
    EXCEPTION
        WHEN datatype_mismatch THEN
            GET STACKED DIAGNOSTICS mismatch = PG_EXCEPTION_DETAIL;
            RAISE EXCEPTION USING
                ERRCODE = 'KA100',
                MESSAGE = 'The list of columns is not that of the answer.',
                DETAIL = mismatch,
                HINT = pg_catalog.format('Write: SELECT * FROM kanon_query_record(...) AS t (%s);', plan.columns);
        WHEN feature_not_supported THEN  -- SELECT kanon_query_record(...), where rows cannot be returned
            RAISE EXCEPTION USING
                ERRCODE = 'KA100',
                MESSAGE = 'The answer is rows, which only FROM can take.',
                HINT = pg_catalog.format('Write: SELECT * FROM kanon_query_record(...) AS t (%s);', plan.columns);
    END;
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_query_record OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION {{ api }}.kanon_query_record FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_query_record IS
'Answers a query as rows with the columns that the caller lists. Else as kanon_query does.
Arguments:
sql: One SELECT.
parameters: Values of $1, $2 and so on.
schemas: Where names are looked up; your search path unless given.
Example: SELECT * FROM kanon_query_record(''SELECT sex, count(*) FROM patients GROUP BY sex'') AS t (sex text, count bigint);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_query_record TO kanon_analyst;
