-- The names among some that no role has.
-- $1 text[]
SELECT n.name
FROM pg_catalog.unnest($1::text []) AS n (name)
WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS a WHERE a.rolname = n.name)
