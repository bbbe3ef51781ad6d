-- Releases of relations that answer queries, or of their partitions, which somebody may read who may query but not read
-- the relation itself; with the rule for that. Either of the parameters chooses, NULL any.
-- $1 bigint
-- $2 text
WITH RECURSIVE covered (protected, relation) AS (
    SELECT p.relation::oid, p.relation::oid FROM kanon.protection AS p
    UNION
    SELECT c.protected, i.inhrelid
    FROM covered AS c
    INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = c.relation
)

SELECT
    pg_catalog.format('%I.%I', bn.nspname, b.relname) AS relation,
    r.name AS release,
    p.beside_releases AS rule,
    min(reader.rolname::text) AS reader
FROM covered AS c
INNER JOIN kanon.protection AS p ON p.relation::oid = c.protected
INNER JOIN kanon.release AS r ON r.relation::oid = c.relation
INNER JOIN pg_catalog.pg_class AS b ON b.oid = c.protected
INNER JOIN pg_catalog.pg_namespace AS bn ON bn.oid = b.relnamespace
INNER JOIN pg_catalog.pg_class AS v ON v.relname = r.name::name AND v.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_roles AS reader
    ON reader.rolname !~ '^pg_'
    AND pg_catalog.pg_has_role(reader.oid, 'kanon_analyst', 'USAGE')
    AND NOT pg_catalog.has_table_privilege(reader.oid, b.oid, 'SELECT')
    AND pg_catalog.has_table_privilege(reader.oid, v.oid, 'SELECT')
WHERE ($1::bigint IS NULL OR c.protected = $1::bigint::oid) AND ($2::text IS NULL OR r.name = $2::text)
GROUP BY bn.nspname, b.relname, r.name, p.beside_releases
ORDER BY p.beside_releases <> 'refuse', r.name
