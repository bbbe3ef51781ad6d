-- Stores a hierarchy that is in a table.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_load(hierarchy name, relation regclass, options jsonb DEFAULT NULL)
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
    RETURN kanon.store_hierarchy(hierarchy, kanon.read_hierarchy(relation, options));
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_hierarchy_load(name, regclass, jsonb) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_hierarchy_load(name, regclass, jsonb) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_load(name, regclass, jsonb) IS
'Stores a generalization hierarchy from a table with a column per level, or of entries with their parents, and returns its version.
Example: SELECT kanon_hierarchy_load(''departments'', ''wards'');';
