-- Proposes roles of columns with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_suggest(
    relation regclass,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.suggestion
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.suggest(relation, extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_suggest OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_suggest FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_suggest IS
'Proposes a role for each column of a table, with reasons. The reasons come from keys, types, names and statistics; nothing is declared.
Arguments:
relation: Any table, view or release that you may read.
time_limit: For counting.
Example: SELECT "column", role, reasons FROM kanon_suggest(''patients'');';
