-- Policies of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_policy',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.polrelid AND v.readable
    $shown$
);
