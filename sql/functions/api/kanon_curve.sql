CREATE OR REPLACE FUNCTION {{ api }}.kanon_curve({{ curve.parameters }}) RETURNS SETOF kanon.curve_point
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT * FROM kanon.curve({{ curve.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_curve IS 'Shows what each of several k would cost, with proven bounds. It counts a table once and publishes nothing.
Arguments:
{{ curve.help }}
Example: SELECT k, suppressed_share, gap, classes FROM kanon_curve(''patients'', ''{2,5,10}'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_curve TO kanon_curator;
