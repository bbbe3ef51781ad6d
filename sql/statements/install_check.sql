-- name: find_functions(): Where the functions that users call are, if the server has them: the search path could lead to others.
SELECT n.nspname::text AS schema FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
WHERE p.proname = 'kanon_install_check' AND p.pronargs = 0 AND p.oid IN (
{% include "called_functions" %}
)

-- name: call_install_check(): Checks the installation inside the server.
SELECT c.item, c.ok, c.detail, c.hint FROM {{ function }}() AS c

-- name: check_catalog(text[]): What must hold of roles, owners and privileges. Where the coordinator of Citus holds shards,
-- kanon_owner and the readers log in there.
SELECT
    (
        SELECT count(*) FILTER (WHERE r.rolname !~ 'base') = 4
            AND NOT pg_catalog.bool_or(r.rolsuper OR r.rolcreaterole OR (r.rolcanlogin AND r.rolname ~ '^kanon_({% if not holds_shards %}owner|base_[0-9]+|{% endif %}reader)$'))
        FROM pg_catalog.pg_roles AS r
        WHERE r.rolname ~ '^kanon_(owner|reader|curator|analyst|base_[0-9]+)$'
    ) AS roles_safe,
    ARRAY(
        SELECT pg_catalog.pg_describe_object(owned.classid, owned.oid, 0)
        FROM (
            SELECT 'pg_catalog.pg_class'::regclass AS classid, c.oid, c.relnamespace AS namespace, c.relowner AS owner
            FROM pg_catalog.pg_class AS c
            UNION ALL
            -- What has its owner's rights belongs to a role of kanon, everything else to whoever installed it.
            SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.pronamespace, p.proowner FROM pg_catalog.pg_proc AS p
            WHERE NOT CASE
                WHEN p.prosecdef THEN pg_catalog.pg_get_userbyid(p.proowner) ~ '^kanon_(owner|reader|base_[0-9]+)$'
                ELSE p.proowner = (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon')
            END
            UNION ALL
            SELECT 'pg_catalog.pg_type'::regclass, t.oid, t.typnamespace, t.typowner FROM pg_catalog.pg_type AS t
            WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class AS c WHERE c.oid = t.typrelid) AND t.typelem = 0
        ) AS owned
        WHERE owned.namespace IN (pg_catalog.to_regnamespace('kanon'), pg_catalog.to_regnamespace('safe'))
            AND CASE
                WHEN owned.classid = 'pg_catalog.pg_proc'::regclass THEN true
                -- what the scripts make belongs to whoever installed, and what calls make to kanon_owner
                WHEN owned.namespace = pg_catalog.to_regnamespace('kanon') AND owned.classid = 'pg_catalog.pg_class'::regclass
                    AND EXISTS (
                        SELECT FROM pg_catalog.pg_class AS c
                        WHERE (c.oid = owned.oid OR c.oid IN (
                            SELECT i.indrelid FROM pg_catalog.pg_index AS i WHERE i.indexrelid = owned.oid
                        )) AND c.relname = ANY ($1::text[]::name[])
                    )
                    THEN owned.owner <> (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon')
                ELSE pg_catalog.pg_get_userbyid(owned.owner) <> 'kanon_owner'
            END
        UNION ALL
        SELECT pg_catalog.pg_describe_object('pg_catalog.pg_namespace'::regclass, n.oid, 0)
        FROM pg_catalog.pg_namespace AS n
        WHERE n.nspname IN ('safe', 'kanon_bases', 'kanon_shown', 'kanon_shards')
            AND pg_catalog.pg_get_userbyid(n.nspowner) <> 'kanon_owner'
        UNION ALL
        SELECT pg_catalog.pg_describe_object('pg_catalog.pg_proc'::regclass, p.oid, 0) FROM pg_catalog.pg_proc AS p
        -- a call that leaves out arguments would be one of a function without these
        WHERE pg_catalog.starts_with(p.proname, 'kanon_')
            AND p.proowner <> (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon')
            AND NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.oid = p.proowner)
            AND p.pronamespace IN (
                SELECT api.pronamespace FROM pg_catalog.pg_proc AS api WHERE api.oid IN (
{% include "called_functions" %}
)
            )
        UNION ALL
        SELECT f.code FROM (
{% include "code_on_tables" %}
        ) AS f
        ORDER BY 1
    ) AS foreign_objects,
    ARRAY(
        SELECT pg_catalog.format('%s of %s', pg_catalog.pg_get_userbyid(m.member), pg_catalog.pg_get_userbyid(m.roleid))
        FROM pg_catalog.pg_auth_members AS m
        INNER JOIN pg_catalog.pg_roles AS r ON r.oid IN (m.roleid, m.member) AND r.rolname ~ '^kanon_base_[0-9]+$'
        INNER JOIN pg_catalog.pg_roles AS o ON o.oid IN (m.roleid, m.member) AND o.oid <> r.oid AND NOT o.rolsuper
        ORDER BY 1
    ) AS members_of_readers,
    -- as versions before the readers had it
    ARRAY(
        SELECT pg_catalog.format('%s reads %s', a.grantee::regrole, c.oid::regclass)
        FROM pg_catalog.pg_class AS c
        INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
        INNER JOIN pg_catalog.pg_roles AS g ON g.oid = a.grantee
        WHERE n.nspname NOT IN ('kanon', 'kanon_bases', 'kanon_shards', 'safe') AND a.privilege_type = 'SELECT'
            AND o.rolname <> 'kanon_owner' AND CASE g.rolname
                WHEN 'kanon_owner' THEN pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NULL
                WHEN 'kanon_reader' THEN NOT o.rolsuper
            END
        ORDER BY 1
    ) AS kept_rights,
    ARRAY(
        SELECT pg_catalog.pg_describe_object(granted.classid, granted.oid, 0)
        FROM (
            SELECT 'pg_catalog.pg_namespace'::regclass AS classid, n.oid, n.nspname, n.nspowner AS owner,
                coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner)) AS acl,
                -- who may see a view of kanon is up to who installed
                n.nspname IN ('kanon_bases', 'kanon_shown') AS for_roles
            FROM pg_catalog.pg_namespace AS n
            UNION ALL
            SELECT 'pg_catalog.pg_class'::regclass, c.oid, n.nspname, c.relowner,
                coalesce(c.relacl, pg_catalog.acldefault('r', c.relowner)), n.nspname <> 'safe' AND c.relkind <> 'v'
            FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            UNION ALL
            SELECT 'pg_catalog.pg_proc'::regclass, p.oid, n.nspname, p.proowner,
                coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner)), true
            FROM pg_catalog.pg_proc AS p INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
            UNION ALL
            SELECT 'pg_catalog.pg_default_acl'::regclass, a.oid, 'kanon', a.defaclrole, a.defaclacl, true
            FROM pg_catalog.pg_default_acl AS a INNER JOIN pg_catalog.pg_roles AS r ON r.oid = a.defaclrole
            WHERE r.rolname ~ '^kanon_(owner|reader|base_[0-9]+)$'
        ) AS granted
        WHERE (
            granted.nspname IN ('kanon', 'kanon_bases', 'safe')
            -- nobody can name what is in it
            OR (granted.nspname = 'kanon_shown' AND granted.classid = 'pg_catalog.pg_namespace'::regclass)
        )
            AND EXISTS (
                SELECT FROM pg_catalog.aclexplode(granted.acl) AS a
                LEFT JOIN pg_catalog.pg_roles AS r ON r.oid = a.grantee
                WHERE a.grantee = 0 OR (granted.for_roles AND NOT (
                    r.rolsuper OR r.oid = granted.owner OR r.rolname ~ '^kanon_(owner|reader|curator|analyst|base_[0-9]+)$'
                ))
            )
            -- it reads nothing but its argument, and runs with whatever rights read a relation
            AND granted.oid IS DISTINCT FROM pg_catalog.to_regprocedure('kanon.spelled(anyelement)')
        ORDER BY 1
    ) AS open_to_others

-- name: check_create_base(): A small table for a trial, rolled back afterwards.
CREATE TABLE {{ relation }} AS SELECT i % 3 AS a, i % 7 AS b, 'x' AS c FROM pg_catalog.generate_series(1, 40) AS i

-- name: check_trial(text): The smallest class of the trial release, and whether analysts can read it.
SELECT coalesce(min(class.people), 0) AS smallest,
    pg_catalog.has_table_privilege('kanon_analyst', $1::text, 'SELECT')
        AND pg_catalog.has_schema_privilege('kanon_analyst', 'safe', 'USAGE') AS readable
FROM (SELECT count(*) AS people FROM {{ view }} GROUP BY a, b, c, kanon_suppressed) AS class
