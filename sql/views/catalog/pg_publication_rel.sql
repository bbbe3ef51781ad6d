-- Published relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_publication_rel',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.prrelid AND v.readable
    $shown$
);
