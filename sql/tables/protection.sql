-- The rules under which protected tables answer queries. Those of earlier versions mean nothing any more: tables are protected
-- anew.
DO $earlier$
BEGIN
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = pg_catalog.to_regclass('kanon.protection') AND a.attname = 'strict'
    ) THEN
        DROP VIEW IF EXISTS kanon.protections, kanon.violations;
        DROP FUNCTION IF EXISTS kanon.idle_readers(regclass);
        DROP TABLE kanon.protection;
    END IF;
END
$earlier$;
CREATE TABLE IF NOT EXISTS kanon.protection (
    relation regclass PRIMARY KEY,
    k integer NOT NULL CHECK (k BETWEEN 2 AND 100),
    mode text NOT NULL CHECK (mode IN ('reject', 'suppress')),
    queries integer CHECK (queries >= 1),
    refusals integer CHECK (refusals >= 1),
    seconds double precision NOT NULL CHECK (seconds > 0),
    rows integer NOT NULL CHECK (rows >= 1),
    beside_releases text NOT NULL CHECK (beside_releases IN ('allow', 'warn', 'refuse')),
    protected_by name NOT NULL,
    protected_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.protection
    ADD COLUMN IF NOT EXISTS noise jsonb,
    ADD COLUMN IF NOT EXISTS exact_for regrole [] NOT NULL DEFAULT '{}';
ALTER TABLE kanon.protection OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.protection FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.protection TO kanon_owner;
COMMENT ON TABLE kanon.protection IS 'The tables that answer queries, and under which rules, as set with kanon_protect.';
COMMENT ON COLUMN kanon.protection.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.protection.k IS 'Fewest people behind every figure, and behind every difference of two.';
COMMENT ON COLUMN kanon.protection.mode IS 'Whether rows with too few people are left out (suppress) or refuse the answer (reject).';
COMMENT ON COLUMN kanon.protection.queries IS 'Most queries of one login within a day; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.refusals IS 'Withheld answers to one login within a day after which it is locked out for an hour; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.seconds IS 'Longest time that one query may take.';
COMMENT ON COLUMN kanon.protection.rows IS 'Most rows of one block.';
COMMENT ON COLUMN kanon.protection.beside_releases IS 'What happens where those who may query the table may read a release of it: allow, warn, refuse.';
COMMENT ON COLUMN kanon.protection.protected_by IS 'Who protected it.';
COMMENT ON COLUMN kanon.protection.protected_at IS 'When it was protected.';
COMMENT ON COLUMN kanon.protection.noise IS 'How those are answered who are not named in exact_for; NULL for exactly, like everybody.';
COMMENT ON COLUMN kanon.protection.exact_for IS 'Roles whose members are answered exactly, although there is noise.';
GRANT SELECT ON TABLE kanon.protection TO kanon_reader;
