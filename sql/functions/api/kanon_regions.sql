-- Groups the values of a column into regions of neighbours, with the caller's own rights throughout.
CREATE OR REPLACE FUNCTION {{ api }}.kanon_regions(
    relation regclass,
    "column" name,
    adjacency regclass,
    k integer,
    neighbours name[] DEFAULT NULL,
    weight name DEFAULT NULL,
    method text DEFAULT 'moves',
    on_light text DEFAULT 'other',
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
    RETURN QUERY SELECT * FROM kanon.regions(relation, "column", adjacency, k, neighbours, weight, method, on_light, cost,
        extract(epoch FROM time_limit)::double precision);
{% include "raise_without_traceback.sql" %}
END
$function$;
ALTER FUNCTION {{ api }}.kanon_regions OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION {{ api }}.kanon_regions FROM PUBLIC;
COMMENT ON FUNCTION {{ api }}.kanon_regions IS
'Groups the values of a column into connected regions. Each is shared by at least k people; a second table has the pairs of neighbours.
Arguments:
relation: Any table, view or release that you may read.
column: What is grouped; an SQL keyword, so in quotes if named.
adjacency: Table or view with the pairs of neighbours.
k: Least size of a class, at least 2.
neighbours: Its two columns; its first two unless given.
weight: Column to add up in place of counting people.
method: moves, tree or exact.
on_light: Parts of the map with less than k: other gathers them, refuse refuses.
cost: max: size of the largest class; sum: what the classes of all have beyond k.
time_limit: How long to search; what is not proven by then is said.
Example: SELECT DISTINCT label, size FROM kanon_regions(''patients'', ''zip'', ''zip_neighbours'', 150);';
