-- Makes readers, with their functions, until there are so many; those that are there get their functions anew. Readers own
-- nothing but these functions and what releases read through them. They can't be logged in as, and nobody is a member.
-- Citus logs in on other nodes as whoever reads, so there they, and kanon_owner, may log in, and have no other right than to read.
CREATE OR REPLACE FUNCTION kanon.add_readers(number integer) RETURNS integer
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY INVOKER RETURNS NULL ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    most CONSTANT integer := greatest(number, (
        SELECT max(substring(p.proname, '[0-9]+$')::integer)
        FROM pg_proc AS p
        WHERE p.pronamespace = 'kanon'::regnamespace AND p.proname ~ '^define_[0-9]+$'
    ));
    in_server CONSTANT boolean := EXISTS (
        SELECT
        FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_language AS l ON l.oid = p.prolang
        WHERE p.pronamespace = 'kanon'::regnamespace AND p.proname = 'boot' AND l.lanname = 'plpython3u'
    );
    is_superuser CONSTANT boolean := (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user);
    on_citus CONSTANT boolean := EXISTS (SELECT FROM pg_extension AS x WHERE x.extname = 'citus');
    propagation CONSTANT text := current_setting('citus.enable_ddl_propagation', true);
    role name;
BEGIN
    IF most > 1000 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA100', MESSAGE = 'kanon: 1,000 readers are the most.', HINT = 'Undeclare relations that need none any more.';
    END IF;
    PERFORM set_config('citus.enable_ddl_propagation', 'off', true) WHERE on_citus;
    FOR reader IN 1..most LOOP
        role := format('kanon_base_%s', reader);
        IF to_regrole(role) IS NULL THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT', role);
            EXCEPTION
                -- Another database of this server is being installed into at the same time.
                WHEN duplicate_object OR unique_violation THEN NULL;
            END;
        ELSIF EXISTS (
            SELECT
            FROM pg_roles AS r
            WHERE r.rolname = role
                AND (r.rolcanlogin OR r.rolsuper OR r.rolcreatedb OR r.rolcreaterole OR r.rolbypassrls OR r.rolinherit)
        ) THEN
            -- somebody made it before a dump was restored
            EXECUTE format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOINHERIT', role);
        END IF;
        IF is_superuser AND EXISTS (
            SELECT
            FROM pg_auth_members AS m INNER JOIN pg_roles AS r ON r.oid IN (m.roleid, m.member) AND r.rolname = role
            INNER JOIN pg_roles AS o ON o.oid IN (m.roleid, m.member) AND o.oid <> r.oid AND NOT o.rolsuper
        ) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'KA500',
                MESSAGE = format('kanon: Role %I has members, or is one of another role: code of relations runs as this role.', role),
                HINT = 'Revoke that first: REVOKE ... FROM ...;';
        END IF;
        IF NOT is_superuser THEN
            -- to hand functions over
            EXECUTE format('GRANT %I TO CURRENT_USER', role);
            EXECUTE format('GRANT CREATE ON SCHEMA kanon TO %I', role);
        END IF;
        EXECUTE format($create$
GRANT EXECUTE ON FUNCTION
    kanon.begin_reading(), kanon.forget_statements(text[]), kanon.define_base(name, name, text, bigint, boolean)
TO %2$I;
GRANT USAGE ON SCHEMA kanon TO %2$I;
GRANT USAGE, CREATE ON SCHEMA kanon_bases TO %2$I;
-- not USAGE: code of a relation would name whomever it likes as who asks
GRANT CREATE ON SCHEMA kanon_shown TO %2$I;

CREATE OR REPLACE FUNCTION kanon.read_rows_%1$s(statement text, arguments text[]) RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS $body$
DECLARE
    known CONSTANT text[] := kanon.begin_reading();
    is_read boolean := false;
BEGIN
    BEGIN
        PERFORM set_config('transaction_read_only', 'on', true);
        RETURN QUERY EXECUTE statement USING arguments[1], arguments[2], arguments[3], arguments[4];
        is_read := true;
        RAISE EXCEPTION USING ERRCODE = 'KA000';
    EXCEPTION
        WHEN OTHERS OR QUERY_CANCELED OR ASSERT_FAILURE THEN
            PERFORM kanon.forget_statements(known);
            IF NOT is_read OR SQLSTATE <> 'KA000' THEN
                RAISE;
            END IF;
    END;
END
$body$;
ALTER FUNCTION kanon.read_rows_%1$s(text, text[]) OWNER TO %2$I;
REVOKE ALL ON FUNCTION kanon.read_rows_%1$s(text, text[]) FROM PUBLIC;
COMMENT ON FUNCTION kanon.read_rows_%1$s(text, text[]) IS 'Runs a statement of kanon with the rights of %2$I, and takes back what it did to the session.';
GRANT EXECUTE ON FUNCTION kanon.read_rows_%1$s(text, text[]) TO kanon_owner, kanon_reader;

CREATE OR REPLACE FUNCTION kanon.define_%1$s(name name, row_type name, statement text, rows bigint, shown boolean) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
SET default_tablespace = ''
AS $body$
BEGIN
    PERFORM kanon.define_base(name, row_type, statement, rows, shown);
END
$body$;
ALTER FUNCTION kanon.define_%1$s(name, name, text, bigint, boolean) OWNER TO %2$I;
REVOKE ALL ON FUNCTION kanon.define_%1$s(name, name, text, bigint, boolean) FROM PUBLIC;
COMMENT ON FUNCTION kanon.define_%1$s(name, name, text, bigint, boolean) IS 'Defines what a release reads with the rights of %2$I.';
GRANT EXECUTE ON FUNCTION kanon.define_%1$s(name, name, text, bigint, boolean) TO kanon_owner;
        $create$, reader, role);
        IF in_server THEN
            EXECUTE format($create$
CREATE OR REPLACE FUNCTION kanon.read_%1$s() RETURNS void
LANGUAGE plpython3u STABLE PARALLEL UNSAFE SECURITY DEFINER CALLED ON NULL INPUT SET search_path = pg_catalog, pg_temp
AS {{ python("reading.read()", "$body$") }};
ALTER FUNCTION kanon.read_%1$s() OWNER TO %2$I;
REVOKE ALL ON FUNCTION kanon.read_%1$s() FROM PUBLIC;
COMMENT ON FUNCTION kanon.read_%1$s() IS 'Runs the statement of the call with the rights of %2$I; called by itself it finds none.';
GRANT EXECUTE ON FUNCTION kanon.read_%1$s() TO kanon_owner, kanon_reader, kanon_analyst;
GRANT EXECUTE ON FUNCTION kanon.boot() TO %2$I;
            $create$, reader, role);
        END IF;
        IF NOT is_superuser THEN
            EXECUTE format('REVOKE CREATE ON SCHEMA kanon FROM %I', role);
            EXECUTE format('REVOKE %I FROM CURRENT_USER', role);
        END IF;
    END LOOP;
    IF on_citus THEN
        -- Citus knows a role that another role is made a member of, however old it is, and then creates it on all nodes.
        PERFORM set_config('citus.enable_ddl_propagation', 'on', true);
        CREATE ROLE kanon_nodes NOLOGIN;
        GRANT kanon_owner, kanon_curator TO kanon_nodes;
        FOR reader IN 1..most LOOP
            EXECUTE format('GRANT kanon_base_%s TO kanon_nodes', reader);
        END LOOP;
        DROP ROLE kanon_nodes;
        ALTER ROLE kanon_owner LOGIN;
        FOR reader IN 1..most LOOP
            -- READ ONLY of the coordinator's transaction does not reach other nodes
            EXECUTE format('ALTER ROLE kanon_base_%s LOGIN', reader);
            EXECUTE format('ALTER ROLE kanon_base_%s SET default_transaction_read_only = on', reader);
        END LOOP;
        PERFORM set_config('citus.enable_ddl_propagation', 'off', true);
        -- Not on the coordinator, unless it holds shards itself: then the other nodes fetch rows from there, too.
        IF NOT EXISTS (SELECT FROM pg_dist_node AS n WHERE n.groupid = 0 AND n.shouldhaveshards) THEN
            ALTER ROLE kanon_owner NOLOGIN;
            FOR reader IN 1..most LOOP
                EXECUTE format('ALTER ROLE kanon_base_%s NOLOGIN', reader);
            END LOOP;
        END IF;
        PERFORM set_config('citus.enable_ddl_propagation', propagation, true);
    END IF;
    RETURN most;
END
$function$;
COMMENT ON FUNCTION kanon.add_readers IS 'Makes more readers, one for each relation that is declared, published or asked about; for superusers.';
