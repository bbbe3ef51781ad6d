-- The extension is created where there is nothing of kanon yet.
DO $fresh$
BEGIN
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
