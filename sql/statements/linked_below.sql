-- The tables from which links lead to a table, and whether they answer queries.
-- $1 bigint
SELECT
    b.relation::oid::bigint AS oid,
    n.nspname::text AS schema,
    c.relname::text AS name,
    EXISTS (SELECT FROM kanon.protection AS p WHERE p.relation = b.relation) AS protected
FROM kanon.linked_below($1::bigint::oid::regclass) AS b (relation)
INNER JOIN pg_catalog.pg_class AS c ON c.oid = b.relation::oid
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
ORDER BY n.nspname, c.relname
