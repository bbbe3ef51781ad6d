-- Stores a hierarchy that is built over a column; kanon_pg/hierarchies/operations.py has the arguments.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_hierarchy_build(
{{ hierarchy_build.parameters }}
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
    RETURN kanon.store_hierarchy(
        hierarchy, kanon.build_hierarchy({{ hierarchy_build.passed }})
    );
{% include "raise_without_traceback" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_hierarchy_build OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION {{ api }}.kanon_hierarchy_build FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_hierarchy_build IS
'Builds a hierarchy over the values of a column and stores it. It returns its version. Builders: intervals, dates, prefix, networks, classes, priority.
Arguments:
{{ hierarchy_build.help }}
Example: SELECT kanon_hierarchy_build(''zips'', ''patients'', ''zip'', ''{"builder": "prefix"}'');';
GRANT EXECUTE ON FUNCTION {{ api }}.kanon_hierarchy_build TO kanon_curator;
