-- Finds few columns that tell rows apart as well as all do, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_identify(
    relation regclass,
    columns name[] DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.identifying_set
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.identify(relation, columns, extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_identify OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_identify FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_identify IS
'Finds few columns that tell rows apart as well as all columns do. Two sets: a smallest and a minimal one.
Arguments:
relation: Any table, view or release that you may read.
columns: What to choose from, in place of all but identifiers.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT columns, kind, at_least FROM kanon_identify(''patients'');';
