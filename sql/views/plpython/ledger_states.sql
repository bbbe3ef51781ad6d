-- Whether the ledgers of queries can be used, as a view, for curators.
CREATE OR REPLACE VIEW kanon.ledger_states AS
SELECT relation, ok, problem, remedy, used
FROM kanon.ledger_states();
ALTER VIEW kanon.ledger_states OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.ledger_states FROM PUBLIC;
GRANT SELECT ON TABLE kanon.ledger_states TO kanon_owner;
GRANT SELECT ON TABLE kanon.ledger_states TO kanon_curator;
COMMENT ON VIEW kanon.ledger_states IS
'Whether the ledger of queries about each protected table can be used; else why every answer is withheld, and what to do.';
COMMENT ON COLUMN kanon.ledger_states.relation IS 'The protected table, if its queries are recorded.';
COMMENT ON COLUMN kanon.ledger_states.ok IS 'Whether the ledger is complete and fits the table.';
COMMENT ON COLUMN kanon.ledger_states.problem IS 'Why every answer is withheld, or soon will be; shown to nobody else.';
COMMENT ON COLUMN kanon.ledger_states.remedy IS 'What to do about it.';
COMMENT ON COLUMN kanon.ledger_states.used IS 'Percent of what the ledger can compare that answers have taken; NULL if old answers are forgotten.';
