-- Groups points into rectangles, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_rectangles(
    relation regclass,
    x name,
    y name,
    k integer,
    weight name DEFAULT NULL,
    method text DEFAULT 'kd',
    cost text DEFAULT 'max',
    time_limit interval DEFAULT '30 seconds'
)
RETURNS SETOF kanon.point_class
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    RETURN QUERY SELECT * FROM kanon.rectangles(relation, x, y, k, weight, method, cost,
        extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_rectangles OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_rectangles FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_rectangles IS
'Groups points of the plane into rectangles of at least k people. They do not overlap.
Arguments:
relation: Any table, view or release that you may read.
x: Column of numbers, or of points.
y: Column of numbers; NULL if x has points.
k: Least size of a class, at least 2.
weight: Column to add up in place of counting people.
method: kd or exact.
cost: max: size of the largest class; sum: what the classes of all have beyond k.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT DISTINCT rectangle::text, size FROM kanon_rectangles(''zips'', ''longitude'', ''latitude'', 150, weight => ''people'');';
