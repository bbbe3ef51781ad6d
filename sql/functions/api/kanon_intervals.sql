-- Groups the values of an ordered column into intervals, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_intervals(
    relation regclass,
    "column" name,
    k integer,
    weight name DEFAULT NULL,
    cost text DEFAULT 'max',
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.value_class
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.intervals(relation, "column", k, weight, cost,
        extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_intervals OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_intervals FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_intervals IS
'Groups the values of an ordered column into intervals. Each is shared by at least k people, at the least cost there is.
Arguments:
relation: Any table, view or release that you may read.
column: What is grouped; an SQL keyword, so in quotes if named.
k: Least size of a class, at least 2.
weight: Column to add up in place of counting people.
cost: max: size of the largest class; sum: what the classes of all have beyond k.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT DISTINCT label, size FROM kanon_intervals(''patients'', ''birth_date'', 5);';
