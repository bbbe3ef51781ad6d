-- Triggers of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_trigger',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.tgrelid AND v.readable
    $shown$
);
