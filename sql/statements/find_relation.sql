-- The relation of a qualified name, also in a schema that the role may not use; NULL if there is none.
-- $1 text
SELECT max(c.oid::bigint) AS oid
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE ARRAY[n.nspname, c.relname]::text[] = pg_catalog.parse_ident($1::text)
