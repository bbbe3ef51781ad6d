-- Schema kanon holds the internals, schema safe nothing but what analysts may read.
CREATE SCHEMA IF NOT EXISTS kanon AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA kanon FROM PUBLIC;
COMMENT ON SCHEMA kanon IS 'k-anonymity: declarations, releases and internal functions; not for analysts.';

CREATE SCHEMA IF NOT EXISTS safe AUTHORIZATION kanon_owner;
REVOKE ALL ON SCHEMA safe FROM PUBLIC;
COMMENT ON SCHEMA safe IS 'k-anonymity: the published releases, one view each.';

-- What the owner creates later is closed to PUBLIC as well; views in safe are open to analysts.
ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE kanon_owner IN SCHEMA safe GRANT SELECT ON TABLES TO kanon_analyst;
