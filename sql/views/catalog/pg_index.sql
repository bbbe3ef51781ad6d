-- Indexes.
SELECT kanon.mirror_catalog(
    'pg_index',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.indexrelid
    $shown$
);
