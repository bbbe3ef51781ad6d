-- What must hold of roles, owners and privileges. Where the coordinator of Citus holds shards, kanon_owner and the readers log in there.
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
            SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.pronamespace, p.proowner
            FROM pg_catalog.pg_proc AS p
            WHERE NOT CASE
                WHEN p.prosecdef THEN pg_catalog.pg_get_userbyid(p.proowner) ~ '^kanon_(owner|reader|base_[0-9]+)$'
                ELSE p.proowner = (SELECT n.nspowner FROM pg_catalog.pg_namespace AS n WHERE n.nspname = 'kanon')
            END
            UNION ALL
            SELECT 'pg_catalog.pg_type'::regclass, t.oid, t.typnamespace, t.typowner FROM pg_catalog.pg_type AS t
        ) AS owned
        WHERE owned.namespace IN (pg_catalog.to_regnamespace('kanon'), pg_catalog.to_regnamespace('safe'))
            AND (owned.classid = 'pg_catalog.pg_proc'::regclass OR pg_catalog.pg_get_userbyid(owned.owner) <> 'kanon_owner')
        ORDER BY 1
    ) AS foreign_objects,
    ARRAY(
        SELECT pg_catalog.pg_describe_object(granted.classid, granted.oid, 0)
        FROM (
            SELECT 'pg_catalog.pg_namespace'::regclass AS classid, n.oid, n.oid AS namespace,
                coalesce(n.nspacl, pg_catalog.acldefault('n', n.nspowner)) AS acl
            FROM pg_catalog.pg_namespace AS n
            UNION ALL
            SELECT 'pg_catalog.pg_class'::regclass, c.oid, c.relnamespace,
                coalesce(c.relacl, pg_catalog.acldefault('r', c.relowner))
            FROM pg_catalog.pg_class AS c
            UNION ALL
            SELECT 'pg_catalog.pg_proc'::regclass, p.oid, p.pronamespace,
                coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
            FROM pg_catalog.pg_proc AS p
        ) AS granted
        WHERE granted.namespace IN (pg_catalog.to_regnamespace('kanon'), pg_catalog.to_regnamespace('safe'))
            AND EXISTS (SELECT FROM pg_catalog.aclexplode(granted.acl) AS a WHERE a.grantee = 0)
            -- it reads nothing but its argument, and runs with whatever rights read a relation
            AND granted.oid IS DISTINCT FROM pg_catalog.to_regprocedure('kanon.spelled(anyelement)')
        ORDER BY 1
    ) AS open_to_public
