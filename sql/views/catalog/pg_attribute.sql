-- Columns. Default values of columns that were added later are values, so they are not shown.
SELECT kanon.mirror_catalog(
    'pg_attribute',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.attrelid
    $shown$,
    $masks${
        "attmissingval": "NULL::text"
    }$masks$
);
