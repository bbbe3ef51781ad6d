-- Versions of releases that are remembered, so that they can be compared with others: which class each row was in.
CREATE TABLE IF NOT EXISTS kanon.remembered (
    release text,
    version bigint CHECK (version >= 1),
    classes regclass NOT NULL,
    key_columns name[] NOT NULL,
    k integer NOT NULL,
    entity name,
    published_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    erased_rows bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (release, version)
);
ALTER TABLE kanon.remembered OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.remembered FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.remembered TO kanon_owner;
COMMENT ON TABLE kanon.remembered IS 'The versions of releases that kanon_composition can look at although readers see a later one.';
COMMENT ON COLUMN kanon.remembered.release IS 'Name of the release, as in kanon.release.';
COMMENT ON COLUMN kanon.remembered.version IS 'Number of the version, from 1; of a release over time as in kanon.series.';
COMMENT ON COLUMN kanon.remembered.classes IS 'Table of the rows of the version: identity, person, class, all hashed.';
COMMENT ON COLUMN kanon.remembered.key_columns IS 'Columns that identified a row.';
COMMENT ON COLUMN kanon.remembered.k IS 'Fewest people of a class of this version.';
COMMENT ON COLUMN kanon.remembered.entity IS 'Column that identified a person; NULL: each row was a person.';
COMMENT ON COLUMN kanon.remembered.published_at IS 'When the version was published.';
COMMENT ON COLUMN kanon.remembered.erased_rows IS 'Rows of people who were erased since; kanon_composition counts them as unseen.';
