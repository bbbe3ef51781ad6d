-- Counts changes of a table as the server's statistics know them, and those that this session has not handed to them
-- yet: a session does that once a second at most, so that an INSERT just before a publication would count as after it.
CREATE OR REPLACE FUNCTION kanon.base_changes(relation regclass) RETURNS bigint
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    WITH RECURSIVE part (oid) AS (
        SELECT c.oid FROM pg_catalog.pg_class AS c WHERE c.oid = base_changes.relation
        UNION
        SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN part ON i.inhparent = part.oid
    )
    SELECT CASE
        WHEN pg_catalog.count(*) > 0 AND pg_catalog.bool_and(c.relkind IN ('r', 'p') AND NOT EXISTS (
            -- Citus counts the changes of its tables where their rows are; it gives each of them this trigger
            SELECT FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
            WHERE t.tgrelid = c.oid AND p.proname = 'citus_truncate_trigger'
        )) THEN
            pg_catalog.sum(
                pg_catalog.pg_stat_get_tuples_inserted(c.oid)
                + pg_catalog.pg_stat_get_tuples_updated(c.oid)
                + pg_catalog.pg_stat_get_tuples_deleted(c.oid)
                + pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid)
                + pg_catalog.pg_stat_get_xact_tuples_updated(c.oid)
                + pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid)
            )::bigint
        END
    FROM part JOIN pg_catalog.pg_class AS c USING (oid);
END;
COMMENT ON FUNCTION kanon.base_changes IS 'Rows inserted, updated and deleted so far in a table with its partitions and children, by the server''s
statistics and in this session (TRUNCATE is not counted); NULL for views, foreign tables and dropped tables.';
GRANT EXECUTE ON FUNCTION kanon.base_changes TO kanon_curator;
