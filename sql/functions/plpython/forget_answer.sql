CREATE OR REPLACE FUNCTION kanon.forget_answer(relation regclass, entry bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("forget_answer") %}
    RETURN kanon.free_sets(relation, entry);
{% endcall %};
COMMENT ON FUNCTION kanon.forget_answer IS 'Compares new answers about a table''s people no more with one earlier answer: whoever has both may then learn about single people. kanon.query_log has the entries, which of them block others, and still shows what was forgotten.
Example: SELECT kanon.forget_answer(''patients'', 1);';
GRANT EXECUTE ON FUNCTION kanon.forget_answer TO kanon_curator;
