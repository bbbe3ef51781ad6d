-- The prepared statements that SQL made in this session. No rollback takes them back, and one that took another's name would
-- be run by whoever has the session, with all their rights.
CREATE OR REPLACE FUNCTION kanon.known_statements()
RETURNS text[]
LANGUAGE sql
STABLE
PARALLEL RESTRICTED
SECURITY INVOKER
CALLED ON NULL INPUT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT coalesce(
        pg_catalog.array_agg(p.name || E'\n' || p.statement || E'\n' || extract(epoch FROM p.prepare_time)), '{}'
    )
    FROM pg_catalog.pg_prepared_statements AS p
    WHERE p.from_sql;
END;
ALTER FUNCTION kanon.known_statements OWNER TO CURRENT_USER;
REVOKE ALL ON FUNCTION kanon.known_statements FROM PUBLIC;
COMMENT ON FUNCTION kanon.known_statements IS
'Prepared statements that SQL made in this session.';
