CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_build({{ hierarchy_build.parameters }}) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("hierarchy_define") %}
    RETURN kanon.store_hierarchy(
        hierarchy, kanon.build_hierarchy({{ hierarchy_build.passed }})
    );
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_build IS 'Builds a hierarchy over the values of a column and stores it. It returns its version. Builders: intervals, dates, prefix, networks, classes, priority.
Arguments:
{{ hierarchy_build.help }}
Example: SELECT kanon_hierarchy_build(''zips'', ''patients'', ''zip'', ''{"builder": "prefix"}'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_build TO kanon_curator;
