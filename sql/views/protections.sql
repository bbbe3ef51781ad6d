-- Protected tables that still exist.
CREATE OR REPLACE VIEW kanon.protections AS
SELECT p.relation, p.k, p.mode, p.queries, p.refusals, p.seconds, p.rows, p.beside_releases, p.protected_by, p.protected_at,
    p.noise, p.exact_for
FROM kanon.protection AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid;
ALTER VIEW kanon.protections OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.protections FROM PUBLIC;
GRANT SELECT ON TABLE kanon.protections TO kanon_owner;
COMMENT ON VIEW kanon.protections IS 'The tables that answer queries, and under which rules.';
COMMENT ON COLUMN kanon.protections.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.protections.k IS 'Fewest people behind every figure, and behind every difference of two.';
COMMENT ON COLUMN kanon.protections.mode IS 'Whether rows with too few people are left out (suppress) or refuse the answer (reject).';
COMMENT ON COLUMN kanon.protections.queries IS 'Most queries of one login within a day; NULL for no limit.';
COMMENT ON COLUMN kanon.protections.refusals IS 'Withheld answers to one login within a day after which it is locked out for an hour; NULL for no limit.';
COMMENT ON COLUMN kanon.protections.seconds IS 'Longest time that one query may take.';
COMMENT ON COLUMN kanon.protections.rows IS 'Most rows of one block.';
COMMENT ON COLUMN kanon.protections.beside_releases IS 'What happens where those who may query the table may read a release of it: allow, warn, refuse.';
COMMENT ON COLUMN kanon.protections.protected_by IS 'Who protected it.';
COMMENT ON COLUMN kanon.protections.protected_at IS 'When it was protected.';
COMMENT ON COLUMN kanon.protections.noise IS 'How those are answered who are not named in exact_for; NULL for exactly, like everybody.';
COMMENT ON COLUMN kanon.protections.exact_for IS 'Roles whose members are answered exactly, although there is noise.';
GRANT SELECT ON TABLE kanon.protections TO kanon_curator;
