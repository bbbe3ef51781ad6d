-- The statement that counts classes of fewer than $1 people, of all classes by some columns.
CREATE OR REPLACE FUNCTION kanon.small_classes_query(relation regclass, keys name[], person name) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    -- not the type's text, which leaves out schemas on the search path
    named CONSTANT text := (
        SELECT format('%I.%I', n.nspname, c.relname)
        FROM pg_class AS c INNER JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.oid = relation
    );
    key_list CONSTANT text := (SELECT string_agg(format('r.%I', key), ', ') FROM unnest(keys) AS key);
    -- One row per class, or per person and class; with an entity somebody in several small classes counts once.
    classes CONSTANT text := CASE
        WHEN person IS NULL THEN format(
            'SELECT count(*) AS size, count(*) AS n, true AS is_first, NULL::bigint AS who FROM %s AS r GROUP BY %s',
            named, key_list
        )
        ELSE format(
            'SELECT greatest(1, count(who) OVER same_class) AS size, n, row_number() OVER same_class = 1 AS is_first, who '
            'FROM (SELECT %3$s, r.%1$I AS who, count(*) AS n FROM %2$s AS r GROUP BY %3$s, r.%1$I) AS held (%4$s, who, n) '
            'WINDOW same_class AS (PARTITION BY %4$s)',
            person, named, key_list,
            (SELECT string_agg(format('key_%s', place), ', ') FROM generate_series(1, cardinality(keys)) AS place)
        )
    END;
    at_risk CONSTANT text := CASE
        WHEN person IS NULL THEN 'coalesce(sum(n) FILTER (WHERE size < $1::integer), 0)'
        ELSE 'greatest(count(DISTINCT who) FILTER (WHERE size < $1::integer), '
            'count(DISTINCT 1) FILTER (WHERE size < $1::integer))'
    END;
BEGIN
    RETURN format(
        'SELECT min(size), count(*) FILTER (WHERE is_first AND size < $1::integer), (%s)::bigint, '
        'coalesce(sum(n) FILTER (WHERE size < $1::integer), 0)::bigint FROM (%s) AS class', at_risk, classes
    );
END
$function$;
COMMENT ON FUNCTION kanon.small_classes_query IS 'The statement that counts small classes of a relation; called by kanon_bases.small_classes.';
GRANT EXECUTE ON FUNCTION kanon.small_classes_query TO kanon_owner;
