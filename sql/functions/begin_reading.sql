-- What a reading compares the session with afterwards: the prepared statements that SQL made in it. No rollback takes them back,
-- and one that took another's name would be run by whoever has the session, with all their rights. Nor does a rollback move a
-- cursor back, and whoever knows its name fetches rows that they could not read: so nothing is read while one is open. A cursor that
-- is being fetched from right now, as the call's own may be, refuses everybody.
CREATE OR REPLACE FUNCTION kanon.begin_reading() RETURNS text[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    opened name;
BEGIN
    FOREACH opened IN ARRAY ARRAY(SELECT c.name FROM pg_cursors AS c WHERE c.name <> '') LOOP
        BEGIN
            -- stays where it is
            EXECUTE format('MOVE FORWARD 0 FROM %I', opened);
        EXCEPTION
            WHEN object_not_in_prerequisite_state THEN CONTINUE;
        END;
        RAISE EXCEPTION USING
            ERRCODE = 'KA102',
            MESSAGE = format('kanon: Cursor %I is open: the code of a relation that is read now could fetch its rows.', opened),
            HINT = 'Close it first. In PL/pgSQL, FOR ... IN SELECT has one open, too; this has none: '
                'FOREACH ... IN ARRAY ARRAY(SELECT ...) LOOP.';
    END LOOP;
    RETURN ARRAY(
        SELECT p.name || E'\n' || p.statement || E'\n' || extract(epoch FROM p.prepare_time)
        FROM pg_prepared_statements AS p WHERE p.from_sql
    );
END
$function$;
COMMENT ON FUNCTION kanon.begin_reading IS 'Prepared statements that SQL made in this session; refuses while the code of a relation could fetch from an open cursor.';
GRANT EXECUTE ON FUNCTION kanon.begin_reading TO kanon_reader;
