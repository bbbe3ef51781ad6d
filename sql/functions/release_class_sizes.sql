-- Counts the classes of a release by their size in people, although the release does not tell whose rows it has:
-- only the owner role can. Nothing but counts leaves. A class is told apart by all that is published but sensitive
-- columns: insensitive ones as readers see them, whether their types have an equality or not.
CREATE OR REPLACE FUNCTION kanon.release_class_sizes(
    release text,
    OUT people bigint,
    OUT classes bigint,
    OUT rows bigint,
    OUT homogeneous bigint[],
    OUT homogeneous_rows bigint[]
)
RETURNS SETOF record
LANGUAGE plpgsql
STABLE
PARALLEL UNSAFE
SECURITY DEFINER
RETURNS NULL ON NULL INPUT
SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1
AS $function$
DECLARE
    facts record;
    keys text;
    size text;
    same text;
    counted text;
    counted_rows text;
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
        SELECT format('r.%I::text COLLATE "C"', name) FROM unnest(facts.insensitive) AS i (name)
    ) AS published;
    size := CASE
        WHEN facts.entity IS NULL THEN 'count(*)' ELSE 'greatest(1, count(DISTINCT r.kanon_person))'
    END;
    -- A class gives a value away if it has only one, NULL being a value.
    SELECT
        coalesce(string_agg(format(', count(DISTINCT r.%1$I) + (count(*) > count(r.%1$I))::integer = 1 AS same_%2$s',
            name, place), ''), ''),
        coalesce(string_agg(format('count(*) FILTER (WHERE same_%s)', place), ', ' ORDER BY place), ''),
        coalesce(string_agg(format('coalesce(sum(n) FILTER (WHERE same_%s), 0)::bigint', place), ', ' ORDER BY place),
            '')
    INTO same, counted, counted_rows
    FROM unnest(facts.sensitive) WITH ORDINALITY AS s (name, place);
    RETURN QUERY EXECUTE format(
        'SELECT size::bigint, count(*), sum(n)::bigint, ARRAY[%s]::bigint[], ARRAY[%s]::bigint[] '
        'FROM (SELECT %s AS size, count(*) AS n%s FROM %s AS r GROUP BY %s) AS class GROUP BY size ORDER BY size',
        counted, counted_rows, size, same, facts.storage, keys
    );
END
$function$;
ALTER FUNCTION kanon.release_class_sizes OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.release_class_sizes FROM PUBLIC;
COMMENT ON FUNCTION kanon.release_class_sizes IS
'Counts the classes of a release by their size in people, and those in which everybody has the same sensitive value; called by kanon_risk and kanon_is_anonymous.';
GRANT EXECUTE ON FUNCTION kanon.release_class_sizes TO kanon_curator;
