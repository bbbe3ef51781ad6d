-- Whether a base of this name is there.
-- $1 text
SELECT 1 AS found
FROM pg_catalog.pg_class AS c
WHERE c.relname = $1::text AND c.relnamespace = 'kanon_bases'::regnamespace
