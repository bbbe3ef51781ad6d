CREATE OR REPLACE FUNCTION {{ api }}.kanon_certificate({{ certificate.parameters }}) RETURNS json
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("certificate") %}
    RETURN kanon.certificate({{ certificate.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_certificate IS 'Returns what proves the lower bound of a release, for anybody to check. It holds no values, but tells which rows have equal values: treat it as the table itself.
Arguments:
{{ certificate.help }}
Example: SELECT kanon_certificate(''patients'') ->> ''lower_bound'' AS proven;';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_certificate TO kanon_curator;
