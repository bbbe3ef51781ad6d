-- Whether a base of this name, or what shows it, is there.
-- $1 text
SELECT 1 AS found
FROM pg_catalog.pg_class AS c
WHERE c.relname = $1::text AND c.relnamespace IN ('kanon'::regnamespace, 'kanon_bases'::regnamespace)
