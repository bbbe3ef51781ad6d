-- The readers: roles of which each may read one relation, so that the code which that relation brings along reaches nothing
-- else; or, for queries, the protected relations of one owner. The roles are the whole server's, the rows this database's.
CREATE TABLE IF NOT EXISTS kanon.base (
    reader integer PRIMARY KEY,
    relation regclass UNIQUE,
    answers_for regrole UNIQUE,
    CHECK ((relation IS NULL) <> (answers_for IS NULL))
);
ALTER TABLE kanon.base OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.base FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.base TO kanon_owner;
COMMENT ON TABLE kanon.base IS 'Which role reads which relation.';
COMMENT ON COLUMN kanon.base.reader IS 'Number of the role: 1 is kanon_base_1.';
COMMENT ON COLUMN kanon.base.relation IS 'What it reads; NULL if it answers queries.';
COMMENT ON COLUMN kanon.base.answers_for IS 'The owner of the protected relations that it reads for queries.';
GRANT SELECT ON TABLE kanon.base TO kanon_analyst, kanon_reader;
