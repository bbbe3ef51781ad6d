CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_missing({{ hierarchy_missing.parameters }}) RETURNS TABLE (value text, rows bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served() %}
    RETURN QUERY SELECT m.value, m.rows FROM kanon.missing_values(
        {{ hierarchy_missing.passed }}, ARRAY(SELECT v.value FROM {{ api }}.kanon_hierarchy_values(hierarchy) AS v)
    ) AS m;
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_missing IS 'Lists the values of a column that a hierarchy lacks, and their rows. It reads with your rights.
Arguments:
{{ hierarchy_missing.help }}
Example: SELECT * FROM kanon_hierarchy_missing(''zips'', ''patients'', ''zip'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_missing TO kanon_curator;
