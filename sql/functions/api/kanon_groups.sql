-- Groups the values of a column without order, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_groups(
    relation regclass,
    "column" name,
    k integer,
    method text DEFAULT 'spread',
    weight name DEFAULT NULL,
    cost text DEFAULT 'max',
    epsilon double precision DEFAULT 0.25,
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
    RETURN QUERY SELECT * FROM kanon.groups(relation, "column", k, method, weight, cost, epsilon,
        extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_groups OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_groups FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_groups IS
'Groups the values of a column without order into classes. Each is shared by at least k people; a bound is proven.
Arguments:
relation: Any table, view or release that you may read.
column: What is grouped; an SQL keyword, so in quotes if named.
k: Least size of a class, at least 2.
method: spread, fold, exact or relaxed.
weight: Column to add up in place of counting people.
cost: max: size of the largest class; sum: what the classes of all have beyond k.
epsilon: Of relaxed, above 0 and below 1/2.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT DISTINCT label, size, ratio FROM kanon_groups(''patients'', ''diagnosis'', 5);';
