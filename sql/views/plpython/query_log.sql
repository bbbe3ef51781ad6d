-- The log of queries as a view, for curators.
CREATE OR REPLACE VIEW kanon.query_log AS
SELECT relation, entry, asked_at, login, role, query, parameters, outcome, reason, blocked_by, forgotten
FROM kanon.query_log();
ALTER VIEW kanon.query_log OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.query_log FROM PUBLIC;
GRANT SELECT ON TABLE kanon.query_log TO kanon_owner;
GRANT SELECT ON TABLE kanon.query_log TO kanon_curator;
COMMENT ON VIEW kanon.query_log IS
'Who asked what about protected tables, when, and whether it was answered; holds nothing of the data.';
COMMENT ON COLUMN kanon.query_log.relation IS 'The protected table.';
COMMENT ON COLUMN kanon.query_log.asked_at IS 'When it was asked.';
COMMENT ON COLUMN kanon.query_log.login IS 'The session''s login, whose budget counts.';
COMMENT ON COLUMN kanon.query_log.role IS 'The role whose rights counted.';
COMMENT ON COLUMN kanon.query_log.query IS 'The query as it was written.';
COMMENT ON COLUMN kanon.query_log.parameters IS 'Its values.';
COMMENT ON COLUMN kanon.query_log.outcome IS 'answered or withheld.';
COMMENT ON COLUMN kanon.query_log.entry IS 'Its number in the record, for kanon.forget_answer.';
COMMENT ON COLUMN kanon.query_log.reason IS
'Why it was withheld, or a part of it: left out, size, time, error, budget, interrupted; shown to nobody else.';
COMMENT ON COLUMN kanon.query_log.blocked_by IS 'Entries of which figures conflicted with it.';
COMMENT ON COLUMN kanon.query_log.forgotten IS 'Whether new answers are compared with it no more.';
