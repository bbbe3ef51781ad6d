-- Counts classes of fewer than k people, with the caller's rights; what goes wrong becomes a sentence, so that
-- one relation which cannot be read hides no other. Whoever polls many relations has not looked at each of them,
-- so that none may run its owner's code with the caller's rights; the lock keeps what was checked.
CREATE OR REPLACE FUNCTION kanon.small_classes(
    relation regclass,
    keys name[],
    person name,
    k integer,
    OUT smallest_class bigint,
    OUT classes_at_risk bigint,
    OUT people_at_risk bigint,
    OUT rows_at_risk bigint,
    OUT problem text
)
RETURNS record
LANGUAGE plpgsql
VOLATILE
PARALLEL UNSAFE
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    key_list CONSTANT text := (SELECT string_agg(format('r.%I', key), ', ') FROM unnest(keys) AS key);
    -- One row per class, or per person and class; with an entity somebody in several small classes counts once.
    classes CONSTANT text := CASE
        WHEN person IS NULL THEN format(
            'SELECT count(*) AS size, count(*) AS n, true AS is_first, NULL::bigint AS who FROM %s AS r GROUP BY %s',
            relation, key_list
        )
        ELSE format(
            'SELECT greatest(1, count(who) OVER same_class) AS size, n, row_number() OVER same_class = 1 AS is_first, who '
            'FROM (SELECT %3$s, r.%1$I AS who, count(*) AS n FROM %2$s AS r GROUP BY %3$s, r.%1$I) AS held (%4$s, who, n) '
            'WINDOW same_class AS (PARTITION BY %4$s)',
            person, relation, key_list,
            (SELECT string_agg(format('key_%s', place), ', ') FROM generate_series(1, cardinality(keys)) AS place)
        )
    END;
    at_risk CONSTANT text := CASE
        WHEN person IS NULL THEN 'coalesce(sum(n) FILTER (WHERE size < $1), 0)'
        ELSE 'greatest(count(DISTINCT who) FILTER (WHERE size < $1), count(DISTINCT 1) FILTER (WHERE size < $1))'
    END;
BEGIN
    IF key_list IS NULL THEN
        problem := 'No quasi-identifier is declared.';
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = relation AND c.relkind IN ('r', 'p', 'v')) THEN
        EXECUTE format('LOCK TABLE %s IN ACCESS SHARE MODE', relation);
    END IF;
    IF kanon.foreign_code(relation) IS NOT NULL THEN
        problem := 'Reading it would run the code of others with the rights of whoever asks.';
        RETURN;
    END IF;
    EXECUTE format(
        'SELECT min(size), count(*) FILTER (WHERE is_first AND size < $1), %s, '
        'coalesce(sum(n) FILTER (WHERE size < $1), 0) FROM (%s) AS class',
        at_risk, classes
    )
    INTO smallest_class, classes_at_risk, people_at_risk, rows_at_risk
    USING k;
EXCEPTION
    WHEN insufficient_privilege THEN
        problem := 'The caller may not read it.';
    WHEN undefined_table OR undefined_column OR syntax_error THEN
        problem := 'It was dropped or changed since.';
    WHEN OTHERS THEN
        problem := format('It could not be counted (SQLSTATE %s).', SQLSTATE);
END
$function$;
ALTER FUNCTION kanon.small_classes OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.small_classes FROM PUBLIC;
COMMENT ON FUNCTION kanon.small_classes IS
'Counts classes of fewer than k people in a relation with the caller''s rights; called by kanon.violations.';
GRANT EXECUTE ON FUNCTION kanon.small_classes TO kanon_curator;
