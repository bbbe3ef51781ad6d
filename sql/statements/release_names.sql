-- Names of all releases: of the views in schema safe, whatever is recorded.
SELECT c.relname::text AS release
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = 'safe' AND c.relkind = 'v' AND pg_catalog.pg_get_userbyid(c.relowner) = 'kanon_owner'
ORDER BY release
