-- One row per relation with the risk of the people in it.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.risk') IS NULL THEN
        CREATE TYPE kanon.risk AS (
            relation text,
            columns name[],
            rows bigint,
            people bigint,
            classes bigint,
            smallest_class bigint,
            prosecutor_risk double precision,
            prosecutor_average double precision,
            journalist_risk double precision,
            journalist_average double precision,
            journalist_basis text,
            marketer_risk double precision,
            threshold double precision,
            people_above bigint,
            share_above double precision,
            sample_uniques bigint,
            minimal_uniques bigint[],
            people_by_unique bigint[],
            homogeneous_people bigint,
            homogeneous jsonb,
            termination text
        );
    ELSIF NOT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = 'kanon.risk'::pg_catalog.regclass AND attname = 'termination' AND NOT attisdropped
    ) THEN
        ALTER TYPE kanon.risk ADD ATTRIBUTE termination text;
    END IF;
END
$type$;
ALTER TYPE kanon.risk OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.risk FROM PUBLIC;
COMMENT ON TYPE kanon.risk IS 'How likely people are found again in a relation, as kanon_risk returns it.';
COMMENT ON COLUMN kanon.risk.relation IS 'The table, view or release.';
COMMENT ON COLUMN kanon.risk.columns IS 'What the attacker knows; in a release also which cells are suppressed.';
COMMENT ON COLUMN kanon.risk.rows IS 'Rows of the relation.';
COMMENT ON COLUMN kanon.risk.people IS 'Different people.';
COMMENT ON COLUMN kanon.risk.classes IS 'Number of equivalence classes.';
COMMENT ON COLUMN kanon.risk.smallest_class IS 'People in the smallest class.';
COMMENT ON COLUMN kanon.risk.prosecutor_risk IS 'Greatest chance to find a person who is known to be in the relation: 1 / smallest class.';
COMMENT ON COLUMN kanon.risk.prosecutor_average IS 'The same on average over the people; who is in several classes has the greatest chance of these.';
COMMENT ON COLUMN kanon.risk.journalist_risk IS 'Greatest chance to find anybody through a register of the population.';
COMMENT ON COLUMN kanon.risk.journalist_average IS 'The same on average over the people; who is in several classes has the greatest chance of these.';
COMMENT ON COLUMN kanon.risk.journalist_basis IS 'What is known of the population: the table itself (then an upper bound), population table, sampling fraction.';
COMMENT ON COLUMN kanon.risk.marketer_risk IS 'Expected share of correct guesses if everybody is linked.';
COMMENT ON COLUMN kanon.risk.threshold IS 'Risk above which a record counts as being at risk.';
COMMENT ON COLUMN kanon.risk.people_above IS 'Different people in classes whose prosecutor risk exceeds the threshold.';
COMMENT ON COLUMN kanon.risk.share_above IS 'Their share, 0 to 1.';
COMMENT ON COLUMN kanon.risk.sample_uniques IS 'Different people who are alone in a class.';
COMMENT ON COLUMN kanon.risk.minimal_uniques IS 'Smallest combinations of values that only one person has, by their number of columns 1, 2, 3.';
COMMENT ON COLUMN kanon.risk.people_by_unique IS 'People whose smallest such combination has 1, 2, 3 columns.';
COMMENT ON COLUMN kanon.risk.homogeneous_people IS 'Different people in classes where all have the same sensitive value, for the column with most of them; NULL without sensitive columns.';
COMMENT ON COLUMN kanon.risk.homogeneous IS 'The same per sensitive column: classes, people and rows.';
COMMENT ON COLUMN kanon.risk.termination IS 'How the search for minimal uniques ended: optimal (all are counted), exhausted, time (time_limit was over: larger ones are not counted). All other figures are whole.';
GRANT USAGE ON TYPE kanon.risk TO kanon_analyst;
