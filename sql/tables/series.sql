-- Releases over time, one row each: what their versions have in common, and where their cohorts are.
CREATE TABLE IF NOT EXISTS kanon.series (
    release text PRIMARY KEY,
    version bigint NOT NULL CHECK (version >= 1),
    request jsonb NOT NULL,
    weights jsonb NOT NULL,
    key_columns name[] NOT NULL,
    current_rows regclass NOT NULL,
    members regclass NOT NULL,
    cohorts regclass NOT NULL,
    departed regclass NOT NULL,
    pending regclass NOT NULL,
    cohorts_ever bigint NOT NULL,
    pending_people bigint NOT NULL DEFAULT 0,
    longest_wait bigint NOT NULL DEFAULT 0,
    withheld_rows bigint NOT NULL DEFAULT 0,
    retained_rows bigint NOT NULL DEFAULT 0,
    key_view regclass
);
ALTER TABLE kanon.series OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.series FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.series TO kanon_owner;
COMMENT ON TABLE kanon.series IS 'The releases over time, one row each; kanon.releases shows their figures.';
COMMENT ON COLUMN kanon.series.release IS 'Name of the release, as in kanon.release.';
COMMENT ON COLUMN kanon.series.version IS 'Number of the version that readers see, from 1.';
COMMENT ON COLUMN kanon.series.request IS 'All arguments of the call that started the series.';
COMMENT ON COLUMN kanon.series.weights IS 'Cost of a suppressed cell per quasi-identifier, as it was declared then.';
COMMENT ON COLUMN kanon.series.key_columns IS 'Columns that identify a row.';
COMMENT ON COLUMN kanon.series.key_view IS
'View of these columns, which follows them when they are renamed.';
COMMENT ON COLUMN kanon.series.current_rows IS 'View that gives each row of the base table its identity and a fingerprint of its contents.';
COMMENT ON COLUMN kanon.series.members IS 'Table of the published rows: identity, cohort, and the cells as published.';
COMMENT ON COLUMN kanon.series.cohorts IS 'Table of the cohorts: rows and people of each, and whether it is shown.';
COMMENT ON COLUMN kanon.series.departed IS 'Table of the rows that left, with whom they left.';
COMMENT ON COLUMN kanon.series.pending IS 'Table of the rows that wait for a later version.';
COMMENT ON COLUMN kanon.series.cohorts_ever IS 'Highest number of a cohort so far.';
COMMENT ON COLUMN kanon.series.pending_people IS 'See kanon.releases.';
COMMENT ON COLUMN kanon.series.longest_wait IS 'See kanon.releases.';
COMMENT ON COLUMN kanon.series.withheld_rows IS 'See kanon.releases.';
COMMENT ON COLUMN kanon.series.retained_rows IS 'See kanon.releases.';
