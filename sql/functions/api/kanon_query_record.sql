CREATE OR REPLACE FUNCTION {{ api }}.kanon_query_record(
    sql text, parameters text[] DEFAULT NULL, schemas name[] DEFAULT pg_catalog.current_schemas(false)
) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT
AS $function$
DECLARE
    kanon_blocks pg_catalog.record;
    kanon_notice pg_catalog.text;
BEGIN
    SELECT b.rest, b.rows, b.notices INTO kanon_blocks FROM kanon.answer_blocks(sql, parameters, schemas) AS b;
    FOREACH kanon_notice IN ARRAY kanon_blocks.notices LOOP
        RAISE NOTICE '%', kanon_notice;
    END LOOP;
    RETURN QUERY EXECUTE kanon_blocks.rest USING kanon_blocks.rows;
END
$function$;
COMMENT ON FUNCTION {{ api }}.kanon_query_record IS 'Answers a query as rows with the columns that the caller lists. Else as kanon_query does.
Arguments:
sql: One SELECT.
parameters: Values of $1, $2 and so on.
schemas: Where names are looked up; your search path unless given.
Example: SELECT * FROM kanon_query_record(''SELECT sex, count(*) FROM patients GROUP BY sex'') AS t (sex text, count bigint);';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_query_record TO kanon_analyst;
