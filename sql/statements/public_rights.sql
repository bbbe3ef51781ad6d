-- What every role may do in this database that would let an analyst bring own code near the data.
-- $1 text
SELECT 'database' AS kind, d.datname::text AS name, a.privilege_type AS privilege,
    pg_catalog.pg_has_role(d.datdba, 'USAGE') AS revocable
FROM pg_catalog.pg_database AS d,
    pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) AS a
WHERE d.datname = pg_catalog.current_database() AND a.grantee = 0 AND a.privilege_type IN ('TEMPORARY', 'CREATE')
UNION ALL
SELECT 'schema', n.nspname::text, a.privilege_type, pg_catalog.pg_has_role(n.nspowner, 'USAGE')
FROM pg_catalog.pg_namespace AS n,
    pg_catalog.aclexplode(coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner))) AS a
WHERE n.nspname IN ('public', $1) AND a.grantee = 0 AND a.privilege_type = 'CREATE'
ORDER BY kind, name, privilege
