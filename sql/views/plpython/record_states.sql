-- Whether the records of answers can be used, as a view, for curators.
CREATE OR REPLACE VIEW kanon.record_states AS
SELECT relation, ok, problem, remedy
FROM kanon.record_states();
ALTER VIEW kanon.record_states OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.record_states FROM PUBLIC;
GRANT SELECT ON TABLE kanon.record_states TO kanon_owner;
GRANT SELECT ON TABLE kanon.record_states TO kanon_curator;
COMMENT ON VIEW kanon.record_states IS
'Whether each record of answers can be used; else why every answer is withheld, and what to do.';
COMMENT ON COLUMN kanon.record_states.relation IS 'The table whose people these are.';
COMMENT ON COLUMN kanon.record_states.ok IS 'Whether the record is there, and the newest.';
COMMENT ON COLUMN kanon.record_states.problem IS 'Why every answer is withheld; shown to nobody else.';
COMMENT ON COLUMN kanon.record_states.remedy IS 'What to do about it.';
