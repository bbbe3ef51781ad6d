-- Keeps what a reader may read besides its own relation because kanon granted it. A note gives no rights, and whoever acts on it revokes
-- with their own.
CREATE OR REPLACE FUNCTION kanon.note_along(reader integer, relation regclass, is_granted boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    IF is_granted THEN
        INSERT INTO kanon.granted_along (reader, relation) VALUES (note_along.reader, note_along.relation) ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM kanon.granted_along AS g WHERE g.reader = note_along.reader AND g.relation = note_along.relation;
    END IF;
EXCEPTION
    -- another session has noted the same since the transaction began
    WHEN serialization_failure THEN NULL;
END
$function$;
COMMENT ON FUNCTION kanon.note_along IS 'Notes what a reader may read besides its own relation; called by kanon.grant_read_along.';
GRANT EXECUTE ON FUNCTION kanon.note_along TO kanon_analyst;
