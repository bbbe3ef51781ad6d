-- Who may read a view besides its owner: all of it, or a column. PUBLIC is NULL.
-- $1 text
SELECT
    g.rolname::text AS role,
    a.is_grantable AS grantable,
    NULL::text AS column_name
FROM pg_catalog.pg_class AS c
CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
LEFT JOIN pg_catalog.pg_roles AS g ON g.oid = a.grantee
WHERE c.oid = $1::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
UNION
SELECT
    g.rolname::text,
    a.is_grantable,
    t.attname::text
FROM pg_catalog.pg_class AS c
INNER JOIN pg_catalog.pg_attribute AS t ON t.attrelid = c.oid AND NOT t.attisdropped
CROSS JOIN LATERAL pg_catalog.aclexplode(t.attacl) AS a
LEFT JOIN pg_catalog.pg_roles AS g ON g.oid = a.grantee
WHERE c.oid = $1::regclass AND a.privilege_type = 'SELECT' AND a.grantee <> c.relowner
