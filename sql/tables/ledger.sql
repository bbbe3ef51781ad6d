-- Where the ledger of queries about a table is kept; the files themselves lie outside of every transaction.
CREATE TABLE IF NOT EXISTS kanon.ledger (
    relation regclass PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name ~ '^[0-9a-f]{32}$'),
    earlier text[] NOT NULL DEFAULT '{}',
    begun_by name NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.ledger ADD COLUMN IF NOT EXISTS earlier text[] NOT NULL DEFAULT '{}';
ALTER TABLE kanon.ledger OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.ledger FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.ledger TO kanon_owner;
COMMENT ON TABLE kanon.ledger IS 'The ledgers of queries about protected tables; stays when a table is no longer protected.';
COMMENT ON COLUMN kanon.ledger.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.ledger.name IS 'Folder of the ledger below kanon_ledger in the data directory; random, so that a copy of the database without its folders is noticed.';
COMMENT ON COLUMN kanon.ledger.earlier IS 'Folders of ledgers that were begun before; kanon.query_log shows them, answers are not compared with them.';
COMMENT ON COLUMN kanon.ledger.begun_by IS 'Who began the ledger.';
COMMENT ON COLUMN kanon.ledger.begun_at IS 'When it was begun.';
GRANT SELECT ON TABLE kanon.ledger TO kanon_reader;
