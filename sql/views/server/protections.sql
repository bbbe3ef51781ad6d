-- The tables that answer questions, and why one of them withholds everything, for curators.
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
    s.ok AS record_ok,
    s.problem,
    s.remedy,
    p.protected_by,
    p.protected_at
FROM kanon.protection AS p
JOIN pg_catalog.pg_class AS c ON c.oid = p.relation::oid
LEFT JOIN kanon.record_states() AS s ON s.relation = p.relation;
ALTER VIEW kanon.protections OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.protections FROM PUBLIC;
GRANT SELECT ON TABLE kanon.protections TO kanon_curator;
COMMENT ON VIEW kanon.protections IS
'The tables that answer questions, under which rules, and whether their records of questions can be used.';
COMMENT ON COLUMN kanon.protections.relation IS 'The table or view.';
COMMENT ON COLUMN kanon.protections.k IS 'Fewest people behind every part of an answer.';
COMMENT ON COLUMN kanon.protections.mode IS 'See kanon.protection.';
COMMENT ON COLUMN kanon.protections.strict IS 'See kanon.protection.';
COMMENT ON COLUMN kanon.protections.simulatable IS 'See kanon.protection.';
COMMENT ON COLUMN kanon.protections.dominance IS 'See kanon.protection.';
COMMENT ON COLUMN kanon.protections.extremes IS 'See kanon.protection.';
COMMENT ON COLUMN kanon.protections.ledger IS 'See kanon.protection.';
COMMENT ON COLUMN kanon.protections.record_ok IS 'Whether the record of questions can be used; NULL if none is kept.';
COMMENT ON COLUMN kanon.protections.problem IS 'Why every answer is withheld; told to curators only. NULL if the record can be used.';
COMMENT ON COLUMN kanon.protections.remedy IS 'What to do about it.';
COMMENT ON COLUMN kanon.protections.protected_by IS 'Who protected it.';
COMMENT ON COLUMN kanon.protections.protected_at IS 'When it was protected.';
