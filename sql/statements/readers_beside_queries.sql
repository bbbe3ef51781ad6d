-- Relations that refuse releases beside queries, of which a release is to be published, with somebody who may query but
-- not read the relation, and may read the release: by the rights on its view or, before there is one, by those on new views.
-- $1 bigint
-- $2 text
WITH RECURSIVE above (relation) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhparent
    FROM above AS a
    INNER JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = a.relation
)

SELECT
    pg_catalog.format('%I.%I', bn.nspname, b.relname) AS relation,
    $2::text AS release,
    p.beside_releases AS rule,
    min(reader.rolname::text) AS reader
FROM above AS a
INNER JOIN kanon.protection AS p ON p.relation::oid = a.relation AND p.beside_releases = 'refuse'
INNER JOIN pg_catalog.pg_class AS b ON b.oid = a.relation
INNER JOIN pg_catalog.pg_namespace AS bn ON bn.oid = b.relnamespace
LEFT JOIN pg_catalog.pg_class AS v ON v.relname = $2::text::name AND v.relnamespace = 'safe'::regnamespace
INNER JOIN pg_catalog.pg_roles AS reader
    ON reader.rolname !~ '^pg_'
    AND pg_catalog.pg_has_role(reader.oid, 'kanon_analyst', 'USAGE')
    AND NOT pg_catalog.has_table_privilege(reader.oid, b.oid, 'SELECT')
    AND CASE
        WHEN v.oid IS NOT NULL THEN pg_catalog.has_table_privilege(reader.oid, v.oid, 'SELECT')
        ELSE EXISTS (
            SELECT
            FROM pg_catalog.pg_default_acl AS d
            CROSS JOIN LATERAL pg_catalog.aclexplode(d.defaclacl) AS granted
            WHERE d.defaclrole = 'kanon_owner'::regrole
                AND d.defaclnamespace IN (0::oid, 'safe'::regnamespace)
                AND d.defaclobjtype = 'r'
                AND granted.privilege_type = 'SELECT'
                AND (granted.grantee = 0::oid OR pg_catalog.pg_has_role(reader.oid, granted.grantee, 'USAGE'))
        )
    END
GROUP BY bn.nspname, b.relname, p.beside_releases
ORDER BY bn.nspname, b.relname
