CREATE OR REPLACE FUNCTION {{ api }}.kanon_identify({{ identify.parameters }}) RETURNS SETOF kanon.identifying_set
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.identify({{ identify.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_identify IS 'Finds few columns that tell rows apart as well as all columns do. Two sets: a smallest and a minimal one.
Arguments:
{{ identify.help }}
Example: SELECT columns, kind, at_least FROM kanon_identify(''patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_identify TO kanon_analyst;
