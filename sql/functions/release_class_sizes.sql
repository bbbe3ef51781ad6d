-- Counts the classes of a release by their size in people, although the release does not tell whose rows it has:
-- only the owner role can. Nothing but counts leaves. A class is told apart by all that is published but sensitive
-- columns: insensitive ones as readers see them, whether their types have an equality or not.
CREATE OR REPLACE FUNCTION kanon.release_class_sizes(
    release text, OUT people bigint, OUT classes bigint, OUT rows bigint, OUT homogeneous bigint[],
    OUT homogeneous_rows bigint[], OUT different_people bigint, OUT homogeneous_people bigint[]
) RETURNS SETOF record
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
AS $function$
DECLARE
    facts record;
    keys text;
    carried text;
    same text;
    counted text;
    counted_rows text;
    smallest text;
    people text;
BEGIN
    SELECT r.storage, r.quasi_identifiers, r.sensitive, r.insensitive, r.entity INTO facts
    FROM kanon.release AS r WHERE r.name = release_class_sizes.release;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT string_agg(key, ', ') INTO keys
    FROM (
        SELECT format('r.%I', name) AS key FROM unnest(facts.quasi_identifiers || 'kanon_pattern'::name) AS q (name)
        UNION ALL
        -- the text of a value by its type's output, not by a cast, which may be somebody's function
        SELECT format('pg_catalog.format(''%%s %%s'', r.%1$I IS NULL, r.%1$I) COLLATE "C"', name)
        FROM unnest(facts.insensitive) AS i (name)
    ) AS published;
    -- A class gives a value away if it has only one, NULL being a value.
    SELECT
        coalesce(string_agg(format(', r.%I AS value_%s', name, place), ''), ''),
        coalesce(string_agg(format(', count(DISTINCT value_%1$s) + (count(*) > count(value_%1$s))::integer = 1 AS same_%1$s',
            place), ''), ''),
        coalesce(string_agg(format('count(*) FILTER (WHERE same_%s)', place), ', ' ORDER BY place), ''),
        coalesce(string_agg(format('coalesce(sum(n) FILTER (WHERE same_%s), 0)::bigint', place), ', ' ORDER BY place),
            ''),
        coalesce(string_agg(format(', min(c.size) FILTER (WHERE c.same_%s)', place), '' ORDER BY place), ''),
        coalesce(string_agg(format('coalesce(max(number) FILTER (WHERE place = %s), 0)', place + 1), ', ' ORDER BY place),
            '')
    INTO carried, same, counted, counted_rows, smallest, people
    FROM unnest(facts.sensitive) WITH ORDINALITY AS s (name, place);
    -- Of each person the smallest class counts, and the smallest that gives a value away: nobody counts twice.
    RETURN QUERY EXECUTE format(
        'WITH shown AS MATERIALIZED ('
        'SELECT dense_rank() OVER (ORDER BY %1$s) AS class, %2$s AS person%3$s FROM %4$s AS r), '
        'class AS MATERIALIZED ('
        'SELECT class, %5$s AS size, count(*) AS n%6$s FROM shown GROUP BY class), '
        'member AS (SELECT DISTINCT class, person FROM shown WHERE person IS NOT NULL), '
        'smallest AS (SELECT ARRAY[min(c.size)%7$s] AS sizes FROM member AS m '
        'INNER JOIN class AS c ON c.class = m.class GROUP BY m.person), '
        'met AS (SELECT u.size, u.place, count(*) AS number '
        'FROM smallest AS s CROSS JOIN LATERAL unnest(s.sizes) WITH ORDINALITY AS u (size, place) '
        'WHERE u.size IS NOT NULL GROUP BY u.size, u.place), '
        'persons AS (SELECT size, coalesce(max(number) FILTER (WHERE place = 1), 0) AS number, '
        'ARRAY[%8$s]::bigint[] AS homogeneous FROM met GROUP BY size), '
        'sized AS (SELECT size, count(*) AS classes, sum(n)::bigint AS n, ARRAY[%9$s]::bigint[] AS homogeneous, '
        'ARRAY[%10$s]::bigint[] AS homogeneous_rows FROM class GROUP BY size) '
        'SELECT z.size, z.classes, z.n, z.homogeneous, z.homogeneous_rows, coalesce(p.number, 0), '
        'coalesce(p.homogeneous, array_fill(0::bigint, ARRAY[%11$s])) '
        'FROM sized AS z LEFT JOIN persons AS p ON p.size = z.size ORDER BY z.size',
        keys,
        CASE WHEN facts.entity IS NULL THEN 'row_number() OVER ()' ELSE 'r.kanon_person' END,
        carried,
        facts.storage,
        'greatest(1, count(DISTINCT person))',
        same,
        smallest,
        people,
        counted,
        counted_rows,
        cardinality(facts.sensitive)
    );
END
$function$;
COMMENT ON FUNCTION kanon.release_class_sizes IS 'Counts the classes of a release by their size in people, and those in which everybody has the same sensitive value; called by kanon_risk and kanon_is_anonymous.';
GRANT EXECUTE ON FUNCTION kanon.release_class_sizes TO kanon_curator;
