-- Whether the records of answers can be used, as a view, for curators.
CREATE OR REPLACE VIEW kanon.record_states (
    relation, -- The table whose people these are.
    ok, -- Whether the record is there, and the newest.
    problem, -- Why every answer is withheld; shown to nobody else.
    remedy -- What to do about it.
) AS
SELECT relation, ok, problem, remedy FROM kanon.record_states();
GRANT SELECT ON TABLE kanon.record_states TO kanon_owner, kanon_curator;
COMMENT ON VIEW kanon.record_states IS 'Whether each record of answers can be used; else why every answer is withheld, and what to do.';
