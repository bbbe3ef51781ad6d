-- The reader of a relation, if it has one that may read something of it: its own, or the one that reads for queries what the
-- relation's owner protects. Until the transaction ends, the role is nobody else's: what runs with its rights now must not
-- find another relation in its reach.
CREATE OR REPLACE FUNCTION kanon.reader_of(relation regclass, for_queries boolean) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    found integer;
    role oid;
BEGIN
    FOR attempt IN 1..2 LOOP
        SELECT b.reader INTO found FROM pg_class AS c
        INNER JOIN kanon.base AS b ON CASE WHEN for_queries THEN b.answers_for = c.relowner ELSE b.relation = c.oid END
        WHERE c.oid = reader_of.relation;
        role := to_regrole(format('kanon_base_%s', found));
        IF role IS NULL OR NOT has_any_column_privilege(role, reader_of.relation, 'SELECT') THEN
            RETURN NULL;
        END IF;
        -- what was found first may have changed hands before the lock was there
        PERFORM pg_advisory_xact_lock_shared({{ readers_lock }}, found);
    END LOOP;
    -- a protected relation that was given to another owner: whoever reads for its old owner still can. What everybody may read
    -- is no matter of this reader.
    IF for_queries AND EXISTS (
        SELECT FROM kanon.protection AS p
        INNER JOIN pg_class AS c ON c.oid = p.relation
        INNER JOIN kanon.base AS b ON b.reader = found AND b.answers_for <> c.relowner
        INNER JOIN pg_shdepend AS s
            ON s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND s.classid = 'pg_class'::regclass AND s.objid = c.oid
            AND s.refclassid = 'pg_authid'::regclass AND s.refobjid = role AND s.deptype = 'a'
    ) THEN
        RETURN NULL;
    END IF;
    RETURN found;
END
$function$;
COMMENT ON FUNCTION kanon.reader_of IS 'Number of the reader of a relation, or of the one that answers queries about it; NULL if none may read it.';
GRANT EXECUTE ON FUNCTION kanon.reader_of TO kanon_reader, kanon_analyst;
