CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_drop(hierarchy text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("hierarchy_drop") %}
    PERFORM kanon.drop_hierarchy(hierarchy);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_drop IS 'Forgets a stored hierarchy with all its versions. Releases made with it stay as they are.
Arguments:
hierarchy: Name of the hierarchy.
Example: SELECT kanon_hierarchy_drop(''zips'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_drop TO kanon_curator;
