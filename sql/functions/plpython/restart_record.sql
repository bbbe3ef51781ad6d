CREATE OR REPLACE FUNCTION kanon.restart_record(relation regclass) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("restart_record") %}
    PERFORM kanon.begin_record(relation);
{% endcall %};
COMMENT ON FUNCTION kanon.restart_record IS 'Begins a new record of answers about a table''s people whose record is missing or no longer fits, for example after a dump was restored. What was answered before is not compared with answers from now on, so two answers may then tell about single people. kanon.query_log still shows it.
Example: SELECT kanon.restart_record(''patients'');';
GRANT EXECUTE ON FUNCTION kanon.restart_record TO kanon_curator;
