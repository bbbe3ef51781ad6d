-- Schema kanon_catalog stands for PostgreSQL's catalogs where tools ask through the gateway. Its views have the
-- columns of the server's version, so they are made anew each time; its functions, which use them, go first.
CREATE SCHEMA IF NOT EXISTS kanon_catalog AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA kanon_catalog FROM PUBLIC;
GRANT USAGE ON SCHEMA kanon_catalog TO kanon_analyst;
COMMENT ON SCHEMA kanon_catalog IS 'k-anonymity: catalogs that show only what the role may read or ask about.';

DO $earlier$
DECLARE
    earlier regprocedure;
BEGIN
    FOR earlier IN
        SELECT p.oid::regprocedure
        FROM pg_catalog.pg_proc AS p
        WHERE p.pronamespace = 'kanon_catalog'::regnamespace
    LOOP
        EXECUTE pg_catalog.format('DROP FUNCTION %s', earlier);
    END LOOP;
END
$earlier$;
