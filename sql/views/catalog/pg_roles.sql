-- The role itself, those it is a member of, and owners of what is shown.
SELECT kanon.mirror_catalog(
    'pg_roles',
    $shown$
        WHERE pg_catalog.pg_has_role(c.oid, 'MEMBER') OR EXISTS (SELECT FROM kanon.visible_relations AS v
        JOIN pg_catalog.pg_class AS r ON r.oid = v.oid WHERE r.relowner = c.oid)
    $shown$
);
