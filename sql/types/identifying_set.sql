-- One row per set of columns that tells rows apart as well as all columns do.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.identifying_set') IS NULL THEN
        CREATE TYPE kanon.identifying_set AS (
            columns name[],
            size integer,
            kind text,
            at_least integer,
            optimal boolean,
            distinct_rows bigint,
            distinction double precision,
            method text,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.identifying_set'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.identifying_set ADD ATTRIBUTE termination text;
    END IF;
END
$type$;
ALTER TYPE kanon.identifying_set OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.identifying_set FROM PUBLIC;
COMMENT ON TYPE kanon.identifying_set IS 'A set of columns that tells rows apart as well as all columns do, as kanon_identify returns it.';
COMMENT ON COLUMN kanon.identifying_set.columns IS 'The columns; without any one of them fewer rows would differ.';
COMMENT ON COLUMN kanon.identifying_set.size IS 'Number of columns.';
COMMENT ON COLUMN kanon.identifying_set.kind IS 'minimum: no identifying set has fewer columns, proven. minimal: no column can be left out.';
COMMENT ON COLUMN kanon.identifying_set.at_least IS 'Proven: every identifying set has at least so many columns.';
COMMENT ON COLUMN kanon.identifying_set.optimal IS 'Whether no identifying set has fewer columns, proven.';
COMMENT ON COLUMN kanon.identifying_set.distinct_rows IS 'Different rows of the table, by all columns as by these.';
COMMENT ON COLUMN kanon.identifying_set.distinction IS 'Different rows as a share of all rows, 0 to 1.';
COMMENT ON COLUMN kanon.identifying_set.method IS 'What found the set.';
COMMENT ON COLUMN kanon.identifying_set.termination IS 'How the search ended: optimal (no set has fewer columns, proven), exhausted (nothing better found), time (time_limit was over).';
GRANT USAGE ON TYPE kanon.identifying_set TO kanon_analyst;
