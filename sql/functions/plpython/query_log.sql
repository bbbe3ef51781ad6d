CREATE OR REPLACE FUNCTION kanon.query_log()
RETURNS TABLE (
    relation text, entry bigint, asked_at timestamptz, login text, role text, query text, parameters text[],
    outcome text, reason text, blocked_by bigint[], forgotten boolean
)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.read_query_log();
{% endcall %};
COMMENT ON FUNCTION kanon.query_log IS 'Who asked what about protected tables, when, and whether it was answered; holds nothing of the data.
Example: SELECT * FROM kanon.query_log() WHERE outcome = ''withheld'';';
GRANT EXECUTE ON FUNCTION kanon.query_log TO kanon_curator;
