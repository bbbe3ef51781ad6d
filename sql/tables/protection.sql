-- The rules under which protected tables answer queries.
CREATE TABLE IF NOT EXISTS kanon.protection (
    relation regclass PRIMARY KEY,
    k integer NOT NULL CHECK (k BETWEEN 2 AND 100),
    mode text NOT NULL CHECK (mode IN ('reject', 'suppress')),
    strict boolean NOT NULL,
    simulatable boolean NOT NULL,
    dominance double precision CHECK (dominance > 0 AND dominance < 1),
    extremes text NOT NULL CHECK (extremes IN ('never', 'insensitive', 'always')),
    ledger text NOT NULL CHECK (ledger IN ('off', 'pairwise', 'linear')),
    one_sided boolean NOT NULL,
    rank integer NOT NULL CHECK (rank BETWEEN 8 AND 2048),
    queries integer CHECK (queries >= 0),
    refusals integer CHECK (refusals >= 1),
    all_queries integer CHECK (all_queries >= 0),
    all_refusals integer CHECK (all_refusals >= 1),
    period double precision NOT NULL CHECK (period > 0),
    lockout double precision NOT NULL CHECK (lockout >= 0),
    seconds double precision NOT NULL CHECK (seconds > 0),
    rows integer NOT NULL CHECK (rows >= 1),
    protected_by name NOT NULL,
    protected_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
ALTER TABLE kanon.protection ADD COLUMN IF NOT EXISTS simulatable boolean NOT NULL DEFAULT false;
ALTER TABLE kanon.protection ADD COLUMN IF NOT EXISTS margin integer NOT NULL DEFAULT 10 CHECK (margin BETWEEN 1 AND 100);
ALTER TABLE kanon.protection ADD COLUMN IF NOT EXISTS share double precision NOT NULL DEFAULT 0.5
CHECK (share > 0 AND share <= 1);
ALTER TABLE kanon.protection ADD COLUMN IF NOT EXISTS near_refusals integer DEFAULT 30 CHECK (near_refusals >= 1);
ALTER TABLE kanon.protection ADD COLUMN IF NOT EXISTS beside_releases text NOT NULL DEFAULT 'warn'
CHECK (beside_releases IN ('allow', 'warn', 'refuse'));
-- Version 0.1.0 called queries questions.
DO $renamed$
BEGIN
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = 'kanon.protection'::regclass AND a.attname = 'questions' AND NOT a.attisdropped
    ) THEN
        ALTER TABLE kanon.protection RENAME COLUMN questions TO queries;
        ALTER TABLE kanon.protection RENAME COLUMN all_questions TO all_queries;
        ALTER TABLE kanon.protection RENAME CONSTRAINT protection_questions_check TO protection_queries_check;
        ALTER TABLE kanon.protection RENAME CONSTRAINT protection_all_questions_check TO protection_all_queries_check;
    END IF;
END
$renamed$;
ALTER TABLE kanon.protection OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.protection FROM PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE kanon.protection TO kanon_owner;
COMMENT ON TABLE kanon.protection IS 'The tables that answer queries, and under which rules, as set with kanon_protect.';
COMMENT ON COLUMN kanon.protection.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.protection.k IS 'Fewest people behind every part of an answer.';
COMMENT ON COLUMN kanon.protection.mode IS 'Whether rows with too few people refuse the answer (reject) or are left out (suppress).';
COMMENT ON COLUMN kanon.protection.strict IS 'Whether nobody counts as too few where the query names a set.';
COMMENT ON COLUMN kanon.protection.simulatable IS 'Whether refusals do not depend on sensitive columns.';
COMMENT ON COLUMN kanon.protection.dominance IS 'Largest share of a sum that one person may have; NULL for no rule.';
COMMENT ON COLUMN kanon.protection.extremes IS 'Columns whose smallest and largest value may be queried: never, insensitive, always.';
COMMENT ON COLUMN kanon.protection.ledger IS 'How far answers are compared with earlier ones: off, pairwise, linear.';
COMMENT ON COLUMN kanon.protection.one_sided IS 'Whether sets are refused that an earlier set nearly contains, or nearly lies in.';
COMMENT ON COLUMN kanon.protection.rank IS
'Most independent sets of people (none the sum or difference of others) that are kept for sums and differences of answers, and most that one answer may add. An answer that needs more is withheld with the reason full; ledger pairwise forgets the oldest instead where answers together need more.';
COMMENT ON COLUMN kanon.protection.queries IS 'Most queries of one login within a period; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.refusals IS 'Withheld answers to one login within a period after which it is locked out; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.all_queries IS 'Most queries of all logins together within a period; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.all_refusals IS 'Withheld answers to all logins together within a period after which nobody is answered; NULL for no limit.';
COMMENT ON COLUMN kanon.protection.period IS 'Seconds that a query counts.';
COMMENT ON COLUMN kanon.protection.lockout IS 'Seconds from the last of these withheld answers.';
COMMENT ON COLUMN kanon.protection.seconds IS 'Longest time that one query may take.';
COMMENT ON COLUMN kanon.protection.rows IS 'Most rows of one answer.';
COMMENT ON COLUMN kanon.protection.margin IS 'Times k: how many people those that known columns choose differ by from earlier ones, where sensitive columns choose among them.';
COMMENT ON COLUMN kanon.protection.near_refusals IS 'Withheld answers to one login within a period, because people differ little, after which it is locked out; one because fewer had a secret than was to be expected counts eight times. NULL for no limit.';
COMMENT ON COLUMN kanon.protection.share IS 'Part of what the ledger can compare that one login''s answers may take.';
COMMENT ON COLUMN kanon.protection.beside_releases IS 'What happens where those who may query the table may read a release of it: allow, warn, refuse.';
COMMENT ON COLUMN kanon.protection.protected_by IS 'Who protected it.';
COMMENT ON COLUMN kanon.protection.protected_at IS 'When it was protected.';
GRANT SELECT ON TABLE kanon.protection TO kanon_reader;
