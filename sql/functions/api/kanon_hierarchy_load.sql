-- Stores a hierarchy that is in a table; kanon_pg/hierarchies/operations.py has the arguments.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_load(
{{ hierarchy_load.parameters }}
)
RETURNS integer
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO kanon.request (operation) VALUES ('hierarchy_define');
    RETURN kanon.store_hierarchy(hierarchy, kanon.read_hierarchy({{ hierarchy_load.passed }}));
{% include "raise_without_traceback" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_hierarchy_load OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION {{ api }}.kanon_hierarchy_load FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_load IS
'Stores a hierarchy from a table, and returns its version. The table has a column per level, or entries with their parents.
Arguments:
{{ hierarchy_load.help }}
Example: SELECT kanon_hierarchy_load(''departments'', ''wards'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_load TO kanon_curator;
