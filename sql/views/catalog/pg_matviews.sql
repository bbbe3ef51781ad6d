-- Materialized views that the role may read.
SELECT kanon.mirror_catalog(
    'pg_matviews',
    $shown$
        WHERE EXISTS (SELECT FROM kanon.visible_relations AS v JOIN pg_catalog.pg_class AS r ON r.oid =
        v.oid JOIN pg_catalog.pg_namespace AS n ON n.oid = r.relnamespace WHERE n.nspname = c.schemaname AND
        r.relname = c.matviewname AND v.readable)
    $shown$
);
