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
ALTER FUNCTION {{ api }}.kanon_groups(regclass, name, integer, text, name, text, double precision, interval) OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_groups(regclass, name, integer, text, name, text, double precision, interval) FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_groups(regclass, name, integer, text, name, text, double precision, interval) IS
'Groups the values of a column without order into classes shared by at least k people, with a proven bound.
Example: SELECT DISTINCT label, size, ratio FROM kanon_groups(''patients'', ''diagnosis'', 5);';
