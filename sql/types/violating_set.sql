-- One row per minimal violating set of columns.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.violating_set') IS NULL THEN
        CREATE TYPE kanon.violating_set AS (
            columns name[],
            size integer,
            kind text,
            smallest_class bigint,
            people_at_risk bigint,
            rows_at_risk bigint,
            distinct_values bigint,
            distinction double precision,
            separation double precision,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.violating_set'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.violating_set ADD ATTRIBUTE termination text;
    END IF;
END
$type$;
ALTER TYPE kanon.violating_set OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.violating_set FROM PUBLIC;
COMMENT ON TYPE kanon.violating_set IS 'A minimal set of columns that singles out fewer than k people, as kanon_audit returns it. Figures are NULL where the time did not suffice.';
COMMENT ON COLUMN kanon.violating_set.columns IS 'The columns; no proper subset of them singles out fewer than k people. Empty if the whole table has fewer than k people.';
COMMENT ON COLUMN kanon.violating_set.size IS 'Number of columns.';
COMMENT ON COLUMN kanon.violating_set.kind IS 'minimum: no set of fewer columns singles out fewer than k people, proven. minimal: leaving out any column ends that.';
COMMENT ON COLUMN kanon.violating_set.smallest_class IS 'Fewest people who share a combination of values.';
COMMENT ON COLUMN kanon.violating_set.people_at_risk IS 'People who share their combination of values with fewer than k people, themselves included.';
COMMENT ON COLUMN kanon.violating_set.rows_at_risk IS 'Rows with such a combination.';
COMMENT ON COLUMN kanon.violating_set.distinct_values IS 'Different combinations of values.';
COMMENT ON COLUMN kanon.violating_set.distinction IS 'Different combinations as a share of the rows, 0 to 1.';
COMMENT ON COLUMN kanon.violating_set.separation IS 'Share of all pairs of rows that differ on the columns, 0 to 1.';
COMMENT ON COLUMN kanon.violating_set.termination IS 'How the search ended: optimal (every set that was asked for is listed), exhausted (some may be missing), time (time_limit was over: sets or figures may be missing).';
GRANT USAGE ON TYPE kanon.violating_set TO kanon_analyst;
