-- The view of a release: only the owner role can put views into schema safe.
-- $1 text
SELECT
    c.oid::bigint AS oid
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'safe' AND c.relname = $1 AND c.relkind = 'v'
    AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'
