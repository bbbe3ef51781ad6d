-- Counts classes of fewer than k people in a release, in people although the release does not tell whose rows
-- it has: only the owner role can. Nothing but four counts leaves.
CREATE OR REPLACE FUNCTION kanon.small_release_classes(
    release text, OUT smallest_class bigint, OUT classes_at_risk bigint, OUT people_at_risk bigint,
    OUT rows_at_risk bigint, OUT problem text
) RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    one kanon.release;
BEGIN
    SELECT r.* INTO one FROM kanon.release AS r WHERE r.name = small_release_classes.release;
    IF one.parameters ->> 'subsets' IS NOT NULL THEN
        -- What is shown of each set of columns is a class then; somebody in several small ones counts in each.
        EXECUTE format(
            'SELECT min(people), count(*) FILTER (WHERE people < $1), coalesce(sum(people) FILTER (WHERE people < $1), 0)::bigint, '
            'coalesce(sum(n) FILTER (WHERE people < $1), 0)::bigint '
            'FROM (SELECT count(*) AS n, %s AS people FROM %s AS r GROUP BY GROUPING SETS (%s)) AS class',
            CASE WHEN one.entity IS NULL THEN 'count(*)' ELSE 'count(DISTINCT r.kanon_person)' END, one.storage,
            (
                WITH RECURSIVE chosen (places) AS (
                    SELECT '{}'::integer[]
                    UNION ALL
                    SELECT c.places || place FROM chosen AS c
                    -- as far as there are places left for the rest
                    CROSS JOIN generate_series(
                        coalesce(c.places[cardinality(c.places)], 0) + 1,
                        cardinality(one.quasi_identifiers) - (one.parameters ->> 'subsets')::integer + cardinality(c.places) + 1
                    ) AS place
                    WHERE cardinality(c.places) < (one.parameters ->> 'subsets')::integer
                )
                SELECT string_agg(
                    (
                        SELECT format('(%s)', string_agg(
                            format('r.%I, r.kanon_pattern & %s', one.quasi_identifiers[place], 1::bigint << (place - 1)), ', '
                        ))
                        FROM unnest(c.places) AS place
                    ), ', '
                )
                FROM chosen AS c WHERE cardinality(c.places) = (one.parameters ->> 'subsets')::integer
            )
        )
        INTO smallest_class, classes_at_risk, people_at_risk, rows_at_risk
        USING one.k;
        RETURN;
    END IF;
    EXECUTE kanon.small_classes_query(
        one.storage, one.quasi_identifiers || 'kanon_pattern'::name,
        CASE WHEN one.entity IS NOT NULL THEN 'kanon_person'::name END
    )
    INTO smallest_class, classes_at_risk, people_at_risk, rows_at_risk
    USING one.k;
EXCEPTION
    WHEN undefined_table OR undefined_column OR syntax_error OR null_value_not_allowed THEN
        problem := 'It was dropped or changed since.';
    WHEN OTHERS THEN
        problem := format('It could not be counted (SQLSTATE %s).', SQLSTATE);
END
$function$;
COMMENT ON FUNCTION kanon.small_release_classes IS 'Counts classes of fewer than k people in a release; called by kanon.violations.';
GRANT EXECUTE ON FUNCTION kanon.small_release_classes TO kanon_curator;
