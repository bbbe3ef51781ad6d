-- The extension is created where there is nothing of kanon yet.
DO $fresh$
BEGIN
{% include "extension/encoding" %}
    IF EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus')
        AND pg_catalog.current_setting('citus.enable_ddl_propagation') = 'on' THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = 'kanon: Citus would create the extension on all nodes; it belongs on the coordinator alone.',
            HINT = 'SET citus.enable_ddl_propagation TO off; CREATE EXTENSION kanon_pg CASCADE;';
    END IF;
    IF EXISTS (
        SELECT
        FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'kanon' AND c.relname = 'version'
    ) THEN
        RAISE EXCEPTION USING
            ERRCODE = 'KA500',
            MESSAGE = 'kanon: This database has kanon already, made by kanon install.',
            HINT = 'To make it the extension, with all declarations and releases: CREATE EXTENSION kanon_pg VERSION ''unpackaged'' CASCADE; ALTER EXTENSION kanon_pg UPDATE;';
    END IF;
END
$fresh$;
