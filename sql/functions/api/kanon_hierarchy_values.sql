CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_values(hierarchy text) RETURNS TABLE (value text, nodes text[])
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("hierarchy_values") %}
    RETURN QUERY SELECT v.value, v.nodes FROM kanon.hierarchy_values(hierarchy) AS v;
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_values IS 'Lists the values of a stored hierarchy with their nodes from level 1.
Arguments:
hierarchy: Name of the hierarchy.
Example: SELECT * FROM kanon_hierarchy_values(''zips'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_values TO kanon_curator;
