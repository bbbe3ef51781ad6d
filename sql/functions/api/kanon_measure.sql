CREATE OR REPLACE FUNCTION {{ api }}.kanon_measure({{ measure.parameters }}) RETURNS kanon.measures
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN kanon.measure({{ measure.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_measure IS 'Measures how anonymous a table or view is. It shows k, l, p, t and related figures, risks and information loss.
Arguments:
{{ measure.help }}
Example: SELECT * FROM kanon_measure(''safe.patients'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_measure TO kanon_analyst;
