-- Servers of postgres_fdw below a relation for which a role has no user mapping, so that it cannot read the relation.
-- $1 bigint
-- $2 text
WITH RECURSIVE parts AS (
    SELECT $1::bigint::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM parts INNER JOIN pg_catalog.pg_inherits AS i ON i.inhparent = parts.oid
)
SELECT DISTINCT s.srvname::text AS server
FROM parts
INNER JOIN pg_catalog.pg_foreign_table AS t ON t.ftrelid = parts.oid
INNER JOIN pg_catalog.pg_foreign_server AS s ON s.oid = t.ftserver
INNER JOIN pg_catalog.pg_foreign_data_wrapper AS w ON w.oid = s.srvfdw
INNER JOIN pg_catalog.pg_proc AS h ON h.oid = w.fdwhandler AND h.proname = 'postgres_fdw_handler'
WHERE NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_user_mappings AS m
    WHERE m.srvid = s.oid AND m.umuser IN (0, (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = $2::text))
)
ORDER BY server
