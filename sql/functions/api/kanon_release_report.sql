CREATE OR REPLACE FUNCTION {{ api }}.kanon_release_report({{ release_report.parameters }}) RETURNS jsonb
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("release_report") %}
    RETURN kanon.release_report({{ release_report.passed }});
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_release_report IS 'Says what a release keeps of its table, for people. Guarantee, columns before and after, class sizes, associations, errors of counts, risk, proof: no value and no count of fewer than k people.
Arguments:
{{ release_report.help }}
Example: SELECT kanon_release_report(''patients'') -> ''guarantee'' AS guarantee;';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_release_report TO kanon_curator;
