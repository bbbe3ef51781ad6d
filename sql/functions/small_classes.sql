-- Counts classes of fewer than k people in a relation, with the rights of its reader; what goes wrong becomes a sentence, so that
-- one relation which cannot be read hides no other. Its schema is closed: only the view that asks whether its caller may read the
-- relation calls it.
CREATE OR REPLACE FUNCTION kanon_bases.small_classes(
    relation regclass, keys name[], person name, k integer, may_read boolean, OUT smallest_class bigint,
    OUT classes_at_risk bigint, OUT people_at_risk bigint, OUT rows_at_risk bigint, OUT problem text
) RETURNS record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    reader CONSTANT integer := kanon.reader_of(relation, false);
BEGIN
    IF keys = '{}' OR keys IS NULL THEN
        problem := 'No quasi-identifier is declared.';
    ELSIF may_read IS NOT TRUE THEN
        problem := 'The caller may not read it.';
    ELSIF reader IS NULL THEN
        problem := 'No reader may read it: SELECT kanon.grant_read(...);';
    ELSE
        EXECUTE format('SELECT * FROM kanon.read_rows_%s($1, ARRAY[$2]) AS t (a bigint, b bigint, c bigint, d bigint)', reader)
        INTO smallest_class, classes_at_risk, people_at_risk, rows_at_risk
        USING kanon.small_classes_query(relation, keys, person), k::text;
    END IF;
EXCEPTION
    WHEN undefined_table OR undefined_column OR syntax_error THEN
        problem := 'It was dropped or changed since.';
    WHEN OTHERS THEN
        problem := format('It could not be counted (SQLSTATE %s).', SQLSTATE);
END
$function$;
COMMENT ON FUNCTION kanon_bases.small_classes IS 'Counts classes of fewer than k people in a relation; called by kanon.violations.';
GRANT EXECUTE ON FUNCTION kanon_bases.small_classes TO kanon_curator;
