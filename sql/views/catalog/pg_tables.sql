-- Tables.
SELECT kanon.mirror_catalog(
    'pg_tables',
    $shown$
        WHERE EXISTS (SELECT FROM kanon.visible_relations AS v JOIN pg_catalog.pg_class AS r ON r.oid =
        v.oid JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace WHERE n.nspname = c.schemaname AND
        r.relname = c.tablename)
    $shown$
);
