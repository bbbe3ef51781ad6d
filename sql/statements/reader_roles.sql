-- The roles of readers.
SELECT r.rolname::text AS role
FROM pg_catalog.pg_roles AS r
WHERE r.rolname ~ '^kanon_base_[0-9]+$'
ORDER BY pg_catalog.substring(r.rolname, '[0-9]+$')::integer
