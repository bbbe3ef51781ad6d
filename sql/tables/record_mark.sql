-- How far records of answers were written: an older copy of a file has fewer events, or others.
CREATE TABLE IF NOT EXISTS kanon.record_mark (
    name text NOT NULL,
    events bigint NOT NULL,
    digest bytea NOT NULL,
    written_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
CREATE INDEX IF NOT EXISTS record_mark_name ON kanon.record_mark (name, events);
ALTER TABLE kanon.record_mark OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.record_mark FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.record_mark TO kanon_owner;
COMMENT ON TABLE kanon.record_mark IS 'How far records of answers were written; the last mark of each counts.';
COMMENT ON COLUMN kanon.record_mark.name IS 'The record, as in kanon.record.';
COMMENT ON COLUMN kanon.record_mark.events IS 'Events that it had.';
COMMENT ON COLUMN kanon.record_mark.digest IS 'Digest of the last of them, which covers all before it.';
COMMENT ON COLUMN kanon.record_mark.written_at IS 'When this was stored.';
GRANT SELECT ON TABLE kanon.record_mark TO kanon_reader;
