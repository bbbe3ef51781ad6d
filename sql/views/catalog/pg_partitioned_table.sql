-- Partitioned tables; expressions of keys are for readers.
SELECT kanon.mirror_catalog(
    'pg_partitioned_table',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.partrelid
    $shown$,
    $masks${
        "partexprs": "CASE WHEN v.readable THEN c.partexprs ELSE NULL END"
    }$masks$
);
