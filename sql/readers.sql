-- The readers that an installation makes; and no role of kanon but they reads base relations.
SELECT kanon.add_readers({{ readers }});

DO $tighten$
DECLARE
    one record;
    on_citus CONSTANT boolean := EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus');
BEGIN
    IF NOT (SELECT r.rolsuper FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user) THEN
        RETURN;
    END IF;
    -- Citus, where it is, keeps the rights of the nodes the same
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'on', true) WHERE on_citus;
    FOR one IN
        SELECT c.oid::regclass AS relation, a.grantee::regrole AS holder, a.grantor::regrole AS giver
        FROM pg_catalog.pg_class AS c
        INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        INNER JOIN pg_catalog.pg_roles AS o ON o.oid = c.relowner
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
        WHERE n.nspname NOT IN ('kanon', 'kanon_bases', 'kanon_shards', 'safe')
            AND a.privilege_type = 'SELECT'
            AND ((a.grantee = 'kanon_owner'::regrole AND NOT kanon.nodes_store(c.oid)) OR (a.grantee = 'kanon_reader'::regrole AND NOT o.rolsuper))
    LOOP
        EXECUTE pg_catalog.format('SET LOCAL ROLE %s', one.giver);
        EXECUTE pg_catalog.format('REVOKE SELECT ON %s FROM %s', one.relation, one.holder);
        RESET ROLE;
    END LOOP;
    PERFORM kanon.grant_read(known.relation)
    FROM (
        SELECT d.relation FROM kanon.declaration AS d UNION SELECT r.relation FROM kanon.release AS r
        UNION SELECT l.child FROM kanon.link AS l
    ) AS known
    INNER JOIN pg_catalog.pg_class AS c ON c.oid = known.relation;
    PERFORM kanon.grant_read_along(
        r.relation, ARRAY(SELECT t.relation FROM kanon.release_table AS t WHERE t.release = r.name), false
    )
    FROM kanon.release AS r INNER JOIN pg_catalog.pg_class AS c ON c.oid = r.relation
    WHERE r.people_view IS NOT NULL;
    PERFORM kanon.grant_read(p.relation, true)
    FROM kanon.protection AS p INNER JOIN pg_catalog.pg_class AS c ON c.oid = p.relation;
    PERFORM pg_catalog.set_config('citus.enable_ddl_propagation', 'off', true) WHERE on_citus;
END
$tighten$
