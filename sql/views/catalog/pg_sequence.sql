-- Sequences that the role may read.
SELECT kanon.mirror_catalog(
    'pg_sequence',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.seqrelid AND v.readable
    $shown$
);
