-- One row per set of releases whose readers are thought of.
DO $type$
BEGIN
    IF pg_catalog.to_regtype('kanon.composition') IS NULL THEN
        CREATE TYPE kanon.composition AS (
            releases text[],
            k integer,
            people bigint,
            smallest bigint,
            average double precision,
            people_below bigint,
            unseen_rows bigint
        );
    END IF;
END
$type$;
ALTER TYPE kanon.composition OWNER TO kanon_owner;
REVOKE ALL ON TYPE kanon.composition FROM PUBLIC;
COMMENT ON TYPE kanon.composition IS 'What the readers of several releases see together, as kanon_composition returns it.';
COMMENT ON COLUMN kanon.composition.releases IS 'The releases and versions: first all, then pairs, the worst first, then each by itself.';
COMMENT ON COLUMN kanon.composition.k IS 'Fewest people that should be left: the argument, else the least k of these releases.';
COMMENT ON COLUMN kanon.composition.people IS 'People of whom one of them shows a row, at most.';
COMMENT ON COLUMN kanon.composition.smallest IS 'Candidates of the person who has the fewest, at least: people with a row in the same classes.';
COMMENT ON COLUMN kanon.composition.average IS 'Candidates of a person on average, at least.';
COMMENT ON COLUMN kanon.composition.people_below IS 'People with fewer than k candidates, at most.';
COMMENT ON COLUMN kanon.composition.unseen_rows IS
'Rows of people who were erased from versions since: each counts as somebody who is alone. 0: everything is exact. Else somebody may have more candidates than said, nobody fewer.';
GRANT USAGE ON TYPE kanon.composition TO kanon_curator;
