-- Names of the relations that queries may be about: those that are protected, and their parts. The gateway looks for them in
-- statements; where a name is one of another schema, too, the server decides what is meant.
CREATE OR REPLACE VIEW kanon.protected_names AS
WITH RECURSIVE found AS (
    SELECT p.relation::oid AS oid FROM kanon.protection AS p
    UNION
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN found AS f ON f.oid = i.inhparent
)

SELECT DISTINCT c.relname AS name FROM found AS f JOIN pg_catalog.pg_class AS c ON c.oid = f.oid;
ALTER VIEW kanon.protected_names OWNER TO CURRENT_USER;
REVOKE ALL ON TABLE kanon.protected_names FROM PUBLIC;
GRANT SELECT ON TABLE kanon.protected_names TO kanon_owner;
COMMENT ON VIEW kanon.protected_names IS 'Names of the relations that queries may be about; the gateway reads it.';
COMMENT ON COLUMN kanon.protected_names.name IS 'Name of a protected relation or of a part of one, without schema.';
GRANT SELECT ON TABLE kanon.protected_names TO kanon_analyst, kanon_curator;
