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
    size CONSTANT text := CASE
        WHEN person IS NULL THEN 'count(*)'
        ELSE format('greatest(1, count(DISTINCT r.%I))', person)
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
    -- Who is in several small classes counts for each of them.
    EXECUTE format(
        'SELECT min(size), count(*) FILTER (WHERE size < $1), '
        'coalesce(sum(size) FILTER (WHERE size < $1), 0), coalesce(sum(n) FILTER (WHERE size < $1), 0) '
        'FROM (SELECT %s AS size, count(*) AS n FROM %s AS r GROUP BY %s) AS class',
        size, relation, key_list
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
