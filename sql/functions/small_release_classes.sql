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
