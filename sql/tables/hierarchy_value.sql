-- What stored hierarchies say of each value.
CREATE TABLE IF NOT EXISTS kanon.hierarchy_value (
    hierarchy text NOT NULL,
    version integer NOT NULL,
    value text COLLATE "C" NOT NULL,
    nodes text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (hierarchy, version, value),
    FOREIGN KEY (hierarchy, version) REFERENCES kanon.hierarchy (name, version) ON DELETE CASCADE
);
ALTER TABLE kanon.hierarchy_value OWNER TO CURRENT_USER;
-- The planner would keep values that somebody had and kanon_erase removed: no statistics of them.
ALTER TABLE kanon.hierarchy_value ALTER COLUMN value SET STATISTICS 0, ALTER COLUMN nodes SET STATISTICS 0;
REVOKE ALL ON TABLE kanon.hierarchy_value FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.hierarchy_value TO kanon_owner;
COMMENT ON TABLE kanon.hierarchy_value IS 'The values of stored hierarchies with their nodes.';
COMMENT ON COLUMN kanon.hierarchy_value.hierarchy IS 'Name of the hierarchy.';
COMMENT ON COLUMN kanon.hierarchy_value.version IS 'Its version.';
COMMENT ON COLUMN kanon.hierarchy_value.value IS 'A value, in the text form of its column''s type.';
COMMENT ON COLUMN kanon.hierarchy_value.nodes IS 'Its nodes from level 1 to the level below the top, in the text form of the output type.';
