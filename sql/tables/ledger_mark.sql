-- How far the journals of queries were written: an older copy of a ledger's folder is shorter, or another one.
CREATE TABLE IF NOT EXISTS kanon.ledger_mark (
    name text NOT NULL,
    records bigint NOT NULL,
    length bigint NOT NULL,
    digest bytea NOT NULL,
    written_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp()
);
CREATE INDEX IF NOT EXISTS ledger_mark_name ON kanon.ledger_mark (name, records);
ALTER TABLE kanon.ledger_mark OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.ledger_mark FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.ledger_mark TO kanon_owner;
COMMENT ON TABLE kanon.ledger_mark IS 'How far the journals of queries were written, some seconds late at most while queries are answered; the last mark of each counts.';
COMMENT ON COLUMN kanon.ledger_mark.name IS 'The ledger, as in kanon.ledger.';
COMMENT ON COLUMN kanon.ledger_mark.records IS 'Entries that the journal had.';
COMMENT ON COLUMN kanon.ledger_mark.length IS 'Bytes that it had.';
COMMENT ON COLUMN kanon.ledger_mark.digest IS 'Digest of these bytes.';
COMMENT ON COLUMN kanon.ledger_mark.written_at IS 'When this was stored.';
GRANT SELECT ON TABLE kanon.ledger_mark TO kanon_reader;
