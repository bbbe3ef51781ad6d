-- Constraints; conditions can hold values, and are shown to readers only.
SELECT kanon.mirror_catalog(
    'pg_constraint',
    $shown$
        LEFT JOIN kanon.visible_relations AS v ON v.oid = c.conrelid WHERE c.conrelid = 0 OR v.readable OR
        (v.oid IS NOT NULL AND c.contype IN ('p', 'u', 'f') AND (c.confrelid = 0 OR EXISTS (SELECT FROM
        kanon.visible_relations AS o WHERE o.oid = c.confrelid)))
    $shown$
);
