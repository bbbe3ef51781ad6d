-- Citus: what kanon_pg needs on the other nodes, and no more: the roles that read there (kanon.add_readers), and a schema of
-- kanon_owner for what is stored on all of them. Everything else is created on the coordinator alone. Between the two
-- settings Citus sends what is done to all nodes, in this transaction.
DO $nodes$
DECLARE
    taken text;
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus') THEN
        -- CREATE SCHEMA IF NOT EXISTS would leave one that a node has to its owner
        SELECT pg_catalog.string_agg(asked.node, ', ' ORDER BY asked.node) INTO taken
        FROM (
{% include "distributed/ask_nodes" %}
        ) AS asked
        WHERE asked.state IS NULL OR asked.state = 'open';
        IF taken IS NOT NULL THEN
            RAISE EXCEPTION USING
                ERRCODE = 'KA500',
                MESSAGE = 'kanon: Others may use the schema kanon_shards, or the node cannot be asked: ' || taken || '.',
                HINT = 'If it is not of kanon, rename it there: ALTER SCHEMA kanon_shards RENAME TO kanon_shards_old; else revoke what was granted on it.';
        END IF;
        -- again, because nothing that the script of an extension does is sent to other nodes
        PERFORM kanon.add_readers(0);
        PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true);
        CREATE SCHEMA IF NOT EXISTS kanon_shards AUTHORIZATION kanon_owner;
        REVOKE ALL ON SCHEMA kanon_shards FROM PUBLIC;
        PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true);
        COMMENT ON SCHEMA kanon_shards IS 'k-anonymity: what releases store on all nodes of Citus; not for analysts.';
    END IF;
END
$nodes$
