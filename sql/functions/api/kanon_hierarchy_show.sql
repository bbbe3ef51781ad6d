CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_show({{ hierarchy_show.parameters }}) RETURNS TABLE (tree text)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_show');
    RETURN QUERY SELECT s.line FROM kanon.show_hierarchy({{ hierarchy_show.passed }}) AS s (line);
{% include "raise_without_traceback" %}
END
$function$;
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_show IS 'Shows a stored hierarchy as a tree.
Arguments:
{{ hierarchy_show.help }}
Example: SELECT * FROM kanon_hierarchy_show(''zips'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_show TO kanon_curator;
