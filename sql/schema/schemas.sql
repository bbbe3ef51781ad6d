-- Schema kanon holds the internals, schema safe nothing but what analysts may read, schema kanon_bases what reads base
-- relations. Schema kanon belongs to whoever installs: a schema's owner may drop what others call, and put something else in
-- its place.
CREATE SCHEMA IF NOT EXISTS kanon;
ALTER SCHEMA kanon OWNER TO CURRENT_USER;
REVOKE ALL ON SCHEMA kanon FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA kanon TO kanon_owner;
COMMENT ON SCHEMA kanon IS 'k-anonymity: declarations, releases and internal functions; not for analysts.';

-- Who reads releases is decided once: what an administrator revokes stays revoked when kanon is installed again.
DO $safe$
BEGIN
    IF pg_catalog.to_regnamespace('safe') IS NULL THEN
        CREATE SCHEMA safe AUTHORIZATION kanon_owner;
        ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe GRANT SELECT ON TABLES TO kanon_analyst;
    END IF;
END
$safe$;
REVOKE ALL ON SCHEMA safe FROM PUBLIC;
COMMENT ON SCHEMA safe IS 'k-anonymity: the published releases, one view each.';

CREATE SCHEMA IF NOT EXISTS kanon_bases AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA kanon_bases FROM PUBLIC;
COMMENT ON SCHEMA kanon_bases IS 'k-anonymity: what releases read of their base relations, each with the rights of the relation''s own reader.';

CREATE SCHEMA IF NOT EXISTS kanon_shown AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA kanon_shown FROM PUBLIC;
COMMENT ON SCHEMA kanon_shown IS 'k-anonymity: what shows rows to whom its argument names; only views of kanon call it.';

-- What the owner creates later is closed to PUBLIC as well.
ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
