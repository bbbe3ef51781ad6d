-- Defaults of columns; they can hold values.
SELECT kanon.mirror_catalog(
    'pg_attrdef',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.adrelid AND v.readable
    $shown$
);
