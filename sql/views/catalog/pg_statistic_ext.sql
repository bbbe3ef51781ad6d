-- Names of extended statistics of relations that the role may read.
SELECT kanon.mirror_catalog(
    'pg_statistic_ext',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.stxrelid AND v.readable
    $shown$
);
