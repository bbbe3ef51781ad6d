-- Removes the schemas, then every right that the roles were lent in this database. What belongs to the
-- roles outside the schemas is not ours: it goes to the role that uninstalls.
DROP SCHEMA IF EXISTS kanon_catalog CASCADE;
DROP SCHEMA safe CASCADE;
DROP SCHEMA kanon CASCADE;
REASSIGN OWNED BY kanon_owner, kanon_reader, kanon_curator, kanon_analyst TO CURRENT_USER;
DROP OWNED BY kanon_owner, kanon_reader, kanon_curator, kanon_analyst;
