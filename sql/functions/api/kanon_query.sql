-- Answers a query, one JSON object per row. Its blocks are answered with the rights of the reading role; the rest runs here,
-- with the caller's own rights and session, so that nothing is set. The default of `schemas` is evaluated where the caller
-- can see it.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_query(
    sql text, parameters text[] DEFAULT NULL, schemas name[] DEFAULT pg_catalog.current_schemas(false)
) RETURNS SETOF jsonb
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
    -- a second column of the same name has a number after it
    RETURN QUERY EXECUTE pg_catalog.format($rows$
        SELECT (
            SELECT pg_catalog.jsonb_object_agg(pg_catalog.concat(n.key, n.number), n.value)
            FROM (
                SELECT f.key, f.value,
                    CASE
                        WHEN pg_catalog.row_number() OVER same OPERATOR(pg_catalog.>) 1
                            THEN pg_catalog.concat('_', pg_catalog.row_number() OVER same)
                    END AS number
                FROM pg_catalog.json_each(pg_catalog.row_to_json(kanon_rest)) WITH ORDINALITY AS f (key, value, place)
                WINDOW same AS (PARTITION BY f.key ORDER BY f.place)
            ) AS n
        )
        FROM (%s) AS kanon_rest
    $rows$, kanon_blocks.rest)
    USING kanon_blocks.rows;
END
$function$;
COMMENT ON FUNCTION {{ api }}.kanon_query IS 'Answers a query: at least k people behind each figure and difference.
Arguments:
sql: One SELECT.
parameters: Values of $1, $2 and so on.
schemas: Where names are looked up; your search path unless given.
Example: SELECT * FROM kanon_query(''SELECT diagnosis, count(*) FROM patients GROUP BY diagnosis'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_query TO kanon_analyst;
