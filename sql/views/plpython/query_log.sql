-- The log of queries as a view, for curators.
CREATE OR REPLACE VIEW kanon.query_log (
    relation, -- The protected table.
    entry, -- Its number in the record, for kanon.forget_answer.
    asked_at, -- When it was asked.
    login, -- The session's login, whose budget counts.
    role, -- The role whose rights counted.
    query, -- The query as it was written.
    parameters, -- Its values.
    outcome, -- answered or withheld.
    reason, -- Why it was withheld, or a part of it: left out, size, time, error, budget, interrupted; shown to nobody else.
    blocked_by, -- Entries of which figures conflicted with it.
    forgotten -- Whether new answers are compared with it no more.
) AS
SELECT relation, entry, asked_at, login, role, query, parameters, outcome, reason, blocked_by, forgotten FROM kanon.query_log();
GRANT SELECT ON TABLE kanon.query_log TO kanon_owner, kanon_curator;
COMMENT ON VIEW kanon.query_log IS 'Who asked what about protected tables, when, and whether it was answered; holds nothing of the data.';
