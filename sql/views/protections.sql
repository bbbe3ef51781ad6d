-- Protected tables that still exist.
CREATE OR REPLACE VIEW kanon.protections (
    relation, -- The table or view.
    k, -- Fewest people behind every figure, and behind every difference of two.
    mode, -- Whether rows with too few people are left out (suppress) or refuse the answer (reject).
    queries, -- Most queries of one login within a day; NULL for no limit.
    refusals, -- Withheld answers to one login within a day after which it is locked out for an hour; NULL for no limit.
    seconds, -- Longest time that one query may take.
    rows, -- Most rows of one block.
    beside_releases, -- What happens where those who may query the table may read a release of it: allow, warn, refuse.
    protected_by, -- Who protected it.
    protected_at, -- When it was protected.
    noise, -- How those are answered who are not named in exact_for; NULL for exactly, like everybody.
    exact_for -- Roles whose members are answered exactly, although there is noise.
) AS
SELECT p.relation, p.k, p.mode, p.queries, p.refusals, p.seconds, p.rows, p.beside_releases, p.protected_by, p.protected_at,
    p.noise, p.exact_for
FROM kanon.protection AS p JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid;
COMMENT ON VIEW kanon.protections IS 'The tables that answer queries, and under which rules.';
GRANT SELECT ON TABLE kanon.protections TO kanon_owner, kanon_curator;
