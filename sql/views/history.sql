-- What was done to tables and releases, for curators.
CREATE OR REPLACE VIEW kanon.history (
    happened_at, -- When it was done.
    operation, -- What was called, by the name of the function without kanon: anonymize, refresh, drop, erase, declare ...
    object, -- The release, table or hierarchy, as SQL wrote it then.
    details, -- What else is known of it: table, k, version; no value of a table.
    role, -- Whose rights counted.
    login -- Who had logged in.
) AS
SELECT e.happened_at, e.operation, e.object, e.details, e.role, e.login FROM kanon.event AS e;
COMMENT ON VIEW kanon.history IS 'Who published, refreshed, dropped, erased, declared, linked and protected what, and when. A REFRESH MATERIALIZED VIEW by hand calls nothing of kanon, and is not in it.';
GRANT SELECT ON TABLE kanon.history TO kanon_owner, kanon_curator;
