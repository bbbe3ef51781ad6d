-- The roles of the whole server: an owner and a reader nobody can log in as, and two groups to be granted. The readers of
-- single relations are made with their functions, in sql/functions/add_readers.sql.
DO $roles$
DECLARE
    missing name;
BEGIN
    FOREACH missing IN ARRAY ARRAY['kanon_owner', 'kanon_reader', 'kanon_curator', 'kanon_analyst']::name[] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = missing);
        BEGIN
            EXECUTE pg_catalog.format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT', missing);
        EXCEPTION
            -- Another database of this server is being installed into at the same time.
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
    END LOOP;
    IF NOT pg_catalog.pg_has_role('kanon_curator', 'kanon_analyst', 'MEMBER') THEN
        GRANT kanon_analyst TO kanon_curator;
    END IF;
    -- What analysts may read can be joined with what they ask about. The reader evaluates what superusers own, nothing else.
    IF NOT pg_catalog.pg_has_role('kanon_reader', 'kanon_analyst', 'MEMBER') THEN
        GRANT kanon_analyst TO kanon_reader;
    END IF;
    -- Whoever may act as the owner may act as the reader: the client's interface does. But the owner has no rights of the reader
    -- without acting as it.
    IF NOT pg_catalog.pg_has_role('kanon_owner', 'kanon_reader', 'MEMBER') THEN
        GRANT kanon_reader TO kanon_owner;
    END IF;
    IF pg_catalog.pg_has_role('kanon_owner', 'kanon_reader', 'USAGE') THEN
        ALTER ROLE kanon_owner NOINHERIT;
        IF pg_catalog.current_setting('server_version_num')::integer >= 160000 THEN
            EXECUTE 'GRANT kanon_reader TO kanon_owner WITH INHERIT FALSE';
        END IF;
    END IF;
    -- A superuser is implicitly a member; any other installing role must be one to hand objects over.
    IF NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) THEN
        IF NOT pg_catalog.pg_has_role(current_user, 'kanon_owner', 'USAGE') THEN
            EXECUTE pg_catalog.format('GRANT kanon_owner TO %I', current_user);
        END IF;
        IF NOT pg_catalog.pg_has_role(current_user, 'kanon_curator', 'USAGE') THEN
            EXECUTE pg_catalog.format('GRANT kanon_curator TO %I', current_user);
        END IF;
    END IF;
END
$roles$;
