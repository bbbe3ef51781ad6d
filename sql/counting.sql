-- What a query reads must not show in the statistics, which all roles can see: the reading role may stop them.
-- The right belongs to the whole server; where another database has granted it, nothing is left to do.
DO $counting$
BEGIN
    IF pg_catalog.current_setting('server_version_num')::integer >= 150000 THEN
        IF NOT pg_catalog.has_parameter_privilege('kanon_reader', 'track_counts', 'SET') THEN
            EXECUTE 'GRANT SET ON PARAMETER track_counts TO kanon_reader';
        END IF;
    END IF;
END
$counting$
