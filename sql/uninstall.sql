-- Removes the schemas, then every right that the roles were granted in this database. What belongs to the
-- roles outside the schemas is not ours: it goes to the role that uninstalls. Any of it may be missing.
DO $nodes$
BEGIN
    -- Of Citus, on all nodes.
    IF EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus') THEN
        PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
        DROP SCHEMA IF EXISTS kanon_shards CASCADE;
        DROP SCHEMA IF EXISTS kanon_shown CASCADE;
        DROP SCHEMA IF EXISTS kanon_bases CASCADE;
        DROP SCHEMA IF EXISTS kanon CASCADE;
        PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
    END IF;
END
$nodes$;
DROP SCHEMA IF EXISTS safe CASCADE;
DROP SCHEMA IF EXISTS kanon_shown CASCADE;
DROP SCHEMA IF EXISTS kanon_bases CASCADE;
DROP SCHEMA IF EXISTS kanon CASCADE;

DO $roles$
DECLARE
    ours text;
    reader oid;
    on_citus CONSTANT boolean := EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus');
BEGIN
    SELECT pg_catalog.string_agg(pg_catalog.quote_ident(r.rolname), ', ') INTO ours
    FROM pg_catalog.pg_roles AS r
    WHERE r.rolname ~ '^kanon_(owner|reader|curator|analyst|base_[0-9]+)$';
    IF ours IS NOT NULL THEN
        IF NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) THEN
            -- what a role owns, and what was granted to it, can be taken from it by its members
            EXECUTE pg_catalog.format('GRANT %s TO CURRENT_USER', ours);
        END IF;
        EXECUTE pg_catalog.format('REASSIGN OWNED BY %s TO CURRENT_USER', ours);
        IF on_citus THEN
            PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
        END IF;
        EXECUTE pg_catalog.format('DROP OWNED BY %s', ours);
        IF on_citus THEN
            PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
        END IF;
        -- This took rights on the whole server as well. Other databases rely on the one of counting.sql.
        SELECT r.oid INTO reader
        FROM pg_catalog.pg_roles AS r
        WHERE r.rolname = 'kanon_reader'
            AND EXISTS (
                SELECT
                FROM pg_catalog.pg_shdepend AS s
                JOIN pg_catalog.pg_database AS d ON d.oid = s.dbid
                WHERE s.refclassid = 'pg_catalog.pg_authid'::regclass AND s.refobjid = r.oid
                    AND d.datname <> pg_catalog.current_database()
            );
        IF reader IS NOT NULL AND pg_catalog.current_setting('server_version_num')::integer >= 150000 THEN
            IF NOT pg_catalog.has_parameter_privilege(reader, 'track_counts', 'SET') THEN
                EXECUTE 'GRANT SET ON PARAMETER track_counts TO kanon_reader';
            END IF;
        END IF;
    END IF;
END
$roles$;
