-- Protected tables that still exist.
-- A view that is replaced keeps the names of its columns; those of users over it go on after this.
DO $renamed$
BEGIN
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_attribute AS a
        WHERE a.attrelid = pg_catalog.to_regclass('kanon.protections') AND a.attname = 'questions'
    ) THEN
        ALTER VIEW kanon.protections RENAME COLUMN questions TO queries;
        ALTER VIEW kanon.protections RENAME COLUMN all_questions TO all_queries;
    END IF;
END
$renamed$;
CREATE OR REPLACE VIEW kanon.protections AS
SELECT
    p.relation,
    p.k,
    p.mode,
    p.strict,
    p.simulatable,
    p.dominance,
    p.extremes,
    p.ledger,
    p.one_sided,
    p.rank,
    p.queries,
    p.refusals,
    p.all_queries,
    p.all_refusals,
    p.period,
    p.lockout,
    p.seconds,
    p.rows,
    p.protected_by,
    p.protected_at,
    p.margin,
    p.near_refusals,
    p.share,
    p.beside_releases
FROM kanon.protection AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid;
ALTER VIEW kanon.protections OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.protections FROM PUBLIC;
GRANT SELECT ON TABLE kanon.protections TO kanon_owner;
COMMENT ON VIEW kanon.protections IS 'The tables that answer queries, and under which rules.';
COMMENT ON COLUMN kanon.protections.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.protections.k IS 'Fewest people behind every part of an answer.';
COMMENT ON COLUMN kanon.protections.mode IS 'Whether rows with too few people refuse the answer (reject) or are left out (suppress).';
COMMENT ON COLUMN kanon.protections.strict IS 'Whether nobody counts as too few where the query names a set.';
COMMENT ON COLUMN kanon.protections.simulatable IS 'Whether refusals do not depend on sensitive columns.';
COMMENT ON COLUMN kanon.protections.dominance IS 'Largest share of a sum that one person may have; NULL for no rule.';
COMMENT ON COLUMN kanon.protections.extremes IS 'Columns whose smallest and largest value may be queried: never, insensitive, always.';
COMMENT ON COLUMN kanon.protections.ledger IS 'How far answers are compared with earlier ones: off, pairwise, linear.';
COMMENT ON COLUMN kanon.protections.one_sided IS 'Whether sets are refused that an earlier set nearly contains, or nearly lies in.';
COMMENT ON COLUMN kanon.protections.rank IS
'Most independent sets of people (none the sum or difference of others) that are kept for sums and differences of answers, and most that one answer may add. An answer that needs more is withheld with the reason full; ledger pairwise forgets the oldest instead where answers together need more.';
COMMENT ON COLUMN kanon.protections.queries IS 'Most queries of one login within a period; NULL for no limit.';
COMMENT ON COLUMN kanon.protections.refusals IS 'Withheld answers to one login within a period after which it is locked out; NULL for no limit.';
COMMENT ON COLUMN kanon.protections.all_queries IS 'Most queries of all logins together within a period; NULL for no limit.';
COMMENT ON COLUMN kanon.protections.all_refusals IS 'Withheld answers to all logins together within a period after which nobody is answered; NULL for no limit.';
COMMENT ON COLUMN kanon.protections.period IS 'Seconds that a query counts.';
COMMENT ON COLUMN kanon.protections.lockout IS 'Seconds from the last of these withheld answers.';
COMMENT ON COLUMN kanon.protections.seconds IS 'Longest time that one query may take.';
COMMENT ON COLUMN kanon.protections.rows IS 'Most rows of one answer.';
COMMENT ON COLUMN kanon.protections.margin IS 'Times k: how many people those that known columns choose differ by from earlier ones, where sensitive columns choose among them.';
COMMENT ON COLUMN kanon.protections.near_refusals IS 'Withheld answers to one login within a period, because people differ little, after which it is locked out; one because fewer had a secret than was to be expected counts eight times. NULL for no limit.';
COMMENT ON COLUMN kanon.protections.share IS 'Part of what the ledger can compare that one login''s answers may take.';
COMMENT ON COLUMN kanon.protections.beside_releases IS 'What happens where those who may query the table may read a release of it: allow, warn, refuse.';
COMMENT ON COLUMN kanon.protections.protected_by IS 'Who protected it.';
COMMENT ON COLUMN kanon.protections.protected_at IS 'When it was protected.';
GRANT SELECT ON TABLE kanon.protections TO kanon_curator;
