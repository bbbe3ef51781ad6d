CREATE OR REPLACE FUNCTION {{ api }}.kanon_suggest({{ suggest.parameters }}) RETURNS SETOF kanon.suggestion
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.suggest({{ suggest.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_suggest IS 'Proposes a role for each column of a table, with reasons. The reasons come from keys, types, names, values and statistics; nothing is declared.
Arguments:
{{ suggest.help }}
Example: SELECT "column", role, reasons FROM kanon_suggest(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_suggest TO kanon_analyst;
