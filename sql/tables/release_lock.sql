-- One row per release name, until the release is dropped: calls for the same name wait for each other here.
CREATE TABLE IF NOT EXISTS kanon.release_lock (
    name text PRIMARY KEY,
    generation bigint NOT NULL DEFAULT 0
);
ALTER TABLE kanon.release_lock OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.release_lock FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.release_lock TO kanon_owner;
COMMENT ON TABLE kanon.release_lock IS 'One row per release name; a call locks its row, so that calls never interleave.';
COMMENT ON COLUMN kanon.release_lock.name IS 'Name of the release.';
COMMENT ON COLUMN kanon.release_lock.generation IS 'How often it was published; part of the names of its storage.';
