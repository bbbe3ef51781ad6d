-- Roles that may read a view, besides its owner.
-- $1 text
SELECT g.rolname::text AS role
FROM pg_catalog.pg_class AS c
CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
INNER JOIN pg_catalog.pg_roles AS g ON g.oid = a.grantee
WHERE c.oid = $1::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
