CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_load({{ hierarchy_load.parameters }}) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("hierarchy_define") %}
    RETURN kanon.store_hierarchy(hierarchy, kanon.read_hierarchy({{ hierarchy_load.passed }}));
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_load IS 'Stores a hierarchy from a table, and returns its version. The table has a column per level, or entries with their parents.
Arguments:
{{ hierarchy_load.help }}
Example: SELECT kanon_hierarchy_load(''departments'', ''wards'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_load TO kanon_curator;
