-- The readers that this database has.
SELECT pg_catalog.substring(p.proname, '[0-9]+$')::integer AS reader
FROM pg_catalog.pg_proc AS p
WHERE p.pronamespace = 'kanon'::regnamespace AND p.proname ~ '^define_[0-9]+$'
ORDER BY 1
