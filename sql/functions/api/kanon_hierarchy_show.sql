CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_show({{ hierarchy_show.parameters }}) RETURNS TABLE (tree text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {% call served("hierarchy_show") %}
    RETURN QUERY SELECT s.line FROM kanon.show_hierarchy({{ hierarchy_show.passed }}) AS s (line);
{% endcall %};
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_show IS 'Shows a stored hierarchy as a tree.
Arguments:
{{ hierarchy_show.help }}
Example: SELECT * FROM kanon_hierarchy_show(''zips'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_show TO kanon_curator;
