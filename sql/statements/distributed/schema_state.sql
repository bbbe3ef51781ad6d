{# Whether a node has the schema of what is stored on all nodes, and nobody but the owner role may use it there. #}
SELECT CASE
        WHEN count(*) = 0 THEN 'missing'
        WHEN pg_catalog.bool_and(
            pg_catalog.pg_get_userbyid(n.nspowner) = 'kanon_owner'
            AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) AS a WHERE a.grantee <> n.nspowner)
        ) THEN 'closed'
        ELSE 'open'
    END
FROM pg_catalog.pg_namespace AS n
WHERE n.nspname = 'kanon_shards'
