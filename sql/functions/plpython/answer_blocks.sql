-- Answers the blocks of a query, and returns what remains to be run with the caller's own rights: the rest, whose parameter $1
-- is the blocks' rows. Debug messages about subtransactions would tell how far a withheld query came.
CREATE OR REPLACE FUNCTION kanon.answer_blocks(
    sql text, parameters text[], schemas name[], OUT rest text, OUT rows jsonb, OUT notices text[]
)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET client_min_messages = error
AS {% call served() %}
    SELECT b.rest, b.rows, b.notices INTO rest, rows, notices
    FROM kanon.read_blocks(sql, parameters, schemas) AS b;
{% endcall %};
COMMENT ON FUNCTION kanon.answer_blocks IS 'Answers the parts of a query that are about people; called by kanon_query and the gateway.';
GRANT EXECUTE ON FUNCTION kanon.answer_blocks TO kanon_analyst;
