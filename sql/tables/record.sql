-- Where the record of answers about some people is kept; the file itself lies outside of every transaction.
CREATE TABLE IF NOT EXISTS kanon.record (
    space regclass PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[0-9a-f]{32}$'),
    begun_by name NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.record OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.record FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.record TO kanon_owner;
COMMENT ON TABLE kanon.record IS 'The records of answers about people; stay when their tables are no longer protected.';
COMMENT ON COLUMN kanon.record.space IS 'The table whose people these are: tables that are linked to it share its record.';
COMMENT ON COLUMN kanon.record.name IS 'Name of the file below kanon_ledger in the data directory; random, so that a copy of the database without its files is noticed.';
COMMENT ON COLUMN kanon.record.begun_by IS 'Who began the record.';
COMMENT ON COLUMN kanon.record.begun_at IS 'When it was begun.';
GRANT SELECT ON TABLE kanon.record TO kanon_reader;
