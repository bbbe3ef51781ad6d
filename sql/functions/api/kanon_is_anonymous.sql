-- Tests k-anonymity with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_is_anonymous(
    relation regclass,
    k integer,
    columns name[] DEFAULT NULL
)
RETURNS boolean
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN kanon.is_anonymous(relation, k, columns);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_is_anonymous(regclass, integer, name[]) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_is_anonymous(regclass, integer, name[]) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_is_anonymous(regclass, integer, name[]) IS
'Tests whether every combination of quasi-identifier values, or of values of the given columns, is shared by at least k people.
Example: SELECT kanon_is_anonymous(''safe.patients'', 5);';
