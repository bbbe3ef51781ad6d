CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_define({{ hierarchy_define.parameters }}) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("hierarchy_define") %}
    RETURN kanon.store_hierarchy(
        hierarchy, coalesce(options, '{}'::jsonb) || pg_catalog.jsonb_build_object('rows', rows)
    );
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_define IS 'Stores a hierarchy that is written out, one list per value. A list has a value and its nodes from level 1. It returns the version.
Arguments:
{{ hierarchy_define.help }}
Example: SELECT kanon_hierarchy_define(''wards'', ''[["Cardiology","internal"],["Oncology","internal"],["Surgery","surgical"]]'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_define TO kanon_curator;
