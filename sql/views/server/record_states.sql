-- Whether the records of queries can be used, as a view, for curators.
CREATE OR REPLACE VIEW kanon.record_states AS
SELECT relation, ok, problem, remedy, used
FROM kanon.record_states();
ALTER VIEW kanon.record_states OWNER TO kanon_owner;
REVOKE ALL ON TABLE kanon.record_states FROM PUBLIC;
GRANT SELECT ON TABLE kanon.record_states TO kanon_curator;
COMMENT ON VIEW kanon.record_states IS
'Whether the record of queries about each protected table can be used; else why every answer is withheld, and what to do.';
COMMENT ON COLUMN kanon.record_states.relation IS 'The protected table, if its queries are recorded.';
COMMENT ON COLUMN kanon.record_states.ok IS 'Whether the record is complete and fits the table.';
COMMENT ON COLUMN kanon.record_states.problem IS 'Why every answer is withheld, or soon will be; shown to nobody else.';
COMMENT ON COLUMN kanon.record_states.remedy IS 'What to do about it.';
COMMENT ON COLUMN kanon.record_states.used IS 'Percent of what the ledger can compare that answers have taken; NULL if old answers are forgotten.';
