-- Names of the relations that queries may be about: those that are protected, and their parts. The gateway looks for them in
-- statements; where a name is one of another schema, too, the server decides what is meant.
CREATE OR REPLACE VIEW kanon.protected_names (
    name -- Name of a protected relation or of a part of one, without schema.
) AS
WITH RECURSIVE found AS (
    SELECT p.relation::oid AS oid FROM kanon.protection AS p
    UNION
    SELECT i.inhrelid FROM pg_catalog.pg_inherits AS i JOIN found AS f ON f.oid = i.inhparent
)
SELECT DISTINCT c.relname AS name FROM found AS f JOIN pg_catalog.pg_class AS c ON c.oid = f.oid;
COMMENT ON VIEW kanon.protected_names IS 'Names of the relations that queries may be about; the gateway reads it.';
GRANT SELECT ON TABLE kanon.protected_names TO kanon_owner, kanon_analyst, kanon_curator;
