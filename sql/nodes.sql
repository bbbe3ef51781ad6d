-- Citus: what kanon_pg needs on the other nodes, and no more: the owner role, which logs in there from node to node, and
-- a schema of its own for what is stored on all of them. Everything else is created on the coordinator alone. Between
-- the two settings Citus sends what is done to all nodes, in this transaction. It knows a role that another
-- role is made a member of, however old it is, and then creates it there. The coordinator runs its own part of a query in
-- its own process, so that nobody logs in as the owner there.
DO $nodes$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus') THEN
        IF EXISTS (
            SELECT FROM pg_catalog.pg_namespace AS n
            WHERE n.nspname = 'kanon_shards' AND pg_catalog.pg_get_userbyid(n.nspowner) <> 'kanon_owner'
        ) THEN
            RAISE EXCEPTION USING
                ERRCODE = 'KA500',
                MESSAGE = 'kanon: Schema kanon_shards exists already and is not of kanon.',
                HINT = 'Rename it: ALTER SCHEMA kanon_shards RENAME TO kanon_shards_old;';
        END IF;
        PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
        CREATE ROLE kanon_nodes NOLOGIN;
        GRANT kanon_owner TO kanon_nodes;
        DROP ROLE kanon_nodes;
        CREATE SCHEMA IF NOT EXISTS kanon_shards AUTHORIZATION kanon_owner;
        REVOKE ALL ON SCHEMA kanon_shards FROM PUBLIC;
        ALTER ROLE kanon_owner LOGIN;
        PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
        ALTER ROLE kanon_owner NOLOGIN;
        COMMENT ON SCHEMA kanon_shards IS 'k-anonymity: what releases store on all nodes of Citus; not for analysts.';
    END IF;
END
$nodes$
