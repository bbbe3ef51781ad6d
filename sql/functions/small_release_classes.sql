-- Counts classes of fewer than k people in a release, in people although the release does not tell whose rows
-- it has: only the owner role can. Nothing but four counts leaves.
CREATE OR REPLACE FUNCTION kanon.small_release_classes(
    release text,
    OUT smallest_class bigint,
    OUT classes_at_risk bigint,
    OUT people_at_risk bigint,
    OUT rows_at_risk bigint,
    OUT problem text
)
RETURNS record
LANGUAGE sql
VOLATILE
PARALLEL UNSAFE
SECURITY DEFINER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT c.*
    FROM kanon.release AS r
    CROSS JOIN LATERAL kanon.small_classes(
        r.storage,
        r.quasi_identifiers || 'kanon_pattern'::name,
        CASE WHEN r.entity IS NOT NULL THEN 'kanon_person'::name END,
        r.k
    ) AS c
    WHERE r.name = small_release_classes.release;
END;
ALTER FUNCTION kanon.small_release_classes OWNER TO kanon_owner;
REVOKE ALL ON FUNCTION kanon.small_release_classes FROM PUBLIC;
COMMENT ON FUNCTION kanon.small_release_classes IS
'Counts classes of fewer than k people in a release; called by kanon.violations.';
GRANT EXECUTE ON FUNCTION kanon.small_release_classes TO kanon_curator;
