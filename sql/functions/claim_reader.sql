-- Finds a reader for a relation, or for the queries about what its owner protects: the one it has, or one that is free. A reader
-- is free if nothing is granted to it any more, whoever granted it and why, and nothing is read through it. A claim gives no rights;
-- these come from who may grant them.
CREATE OR REPLACE FUNCTION kanon.claim_reader(relation regclass, for_queries boolean) RETURNS name
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    owner CONSTANT regrole := (SELECT c.relowner FROM pg_class AS c WHERE c.oid = claim_reader.relation);
    found integer;
    candidate record;
BEGIN
    SELECT b.reader INTO found FROM kanon.base AS b
    WHERE CASE WHEN for_queries THEN b.answers_for = owner ELSE b.relation = claim_reader.relation END;
    IF found IS NULL THEN
        -- another session may be giving it one; a negative number is no reader's
        PERFORM pg_advisory_xact_lock({{ readers_lock }}, -abs(hashoid(CASE WHEN for_queries THEN owner::oid ELSE claim_reader.relation::oid END)));
        SELECT b.reader INTO found FROM kanon.base AS b
        WHERE CASE WHEN for_queries THEN b.answers_for = owner ELSE b.relation = claim_reader.relation END;
    END IF;
    IF found IS NOT NULL THEN
        RETURN format('kanon_base_%s', found);
    END IF;
    FOR candidate IN
        SELECT substring(r.rolname, '[0-9]+$')::integer AS reader, r.oid AS role
        FROM pg_roles AS r
        WHERE r.rolname ~ '^kanon_base_[1-9][0-9]{0,3}$'
            -- made in this database, too
            AND to_regproc(replace(r.rolname, 'kanon_base_', 'kanon.define_')) IS NOT NULL
            -- whatever PUBLIC may read
            AND NOT EXISTS (
                SELECT FROM pg_shdepend AS s
                WHERE s.dbid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                    AND s.classid = 'pg_class'::regclass
                    AND s.refclassid = 'pg_authid'::regclass AND s.refobjid = r.oid AND s.deptype = 'a'
            )
        ORDER BY 1
    LOOP
        -- views belong to it where something is read through it; another session may be reading with its rights
        CONTINUE WHEN EXISTS (
            SELECT FROM pg_class AS c WHERE c.relowner = candidate.role AND c.relnamespace = 'kanon_bases'::regnamespace
        ) OR NOT pg_try_advisory_xact_lock({{ readers_lock }}, candidate.reader);
        BEGIN
            DELETE FROM kanon.base AS b WHERE b.reader = candidate.reader;
            INSERT INTO kanon.base (reader, relation, answers_for)
            VALUES (
                candidate.reader, CASE WHEN NOT for_queries THEN claim_reader.relation END, CASE WHEN for_queries THEN owner END
            );
        EXCEPTION
            -- in a transaction that does not see what others did since it began
            WHEN unique_violation OR serialization_failure THEN
                RAISE EXCEPTION USING
                    ERRCODE = 'KA602', MESSAGE = 'kanon: Another session gave the relation a reader at the same time.',
                    HINT = 'Repeat the call.';
        END;
        RETURN format('kanon_base_%s', candidate.reader);
    END LOOP;
    RAISE EXCEPTION USING
        ERRCODE = 'KA500',
        MESSAGE = 'kanon: All readers are in use: each relation that is declared, published or read has its own.',
        HINT = 'A superuser can make more: SELECT kanon.add_readers(64);';
END
$function$;
COMMENT ON FUNCTION kanon.claim_reader IS 'Finds a reader for a relation; gives no rights. Called by kanon.grant_read.';
GRANT EXECUTE ON FUNCTION kanon.claim_reader TO kanon_analyst;
