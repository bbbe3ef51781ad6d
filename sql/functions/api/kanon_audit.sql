-- Finds the sets of columns that single people out, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_audit(
    relation regclass,
    k integer,
    columns name[] DEFAULT NULL,
    max_columns integer DEFAULT NULL,
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.violating_set
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.audit(relation, k, columns, max_columns, extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_audit OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_audit FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_audit IS
'Finds every minimal set of columns that singles people out. By each fewer than k people share their values; it counts the people at risk.
Arguments:
relation: Any table, view or release that you may read.
k: Fewest people who may share their values.
columns: What to audit, in place of all but identifiers.
max_columns: Most columns of a set.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT columns, kind, people_at_risk FROM kanon_audit(''patients'', 5);';
