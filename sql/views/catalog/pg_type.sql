-- Types, without the row types of relations that are not shown.
SELECT kanon.mirror_catalog(
    'pg_type',
    $shown$
        LEFT JOIN pg_catalog.pg_type AS e ON e.oid = c.typelem AND e.typrelid <> 0 WHERE (c.typrelid = 0 OR
        EXISTS (SELECT FROM kanon.visible_relations AS v WHERE v.oid = c.typrelid)) AND (e.typrelid IS NULL
        OR EXISTS (SELECT FROM kanon.visible_relations AS v WHERE v.oid = e.typrelid))
    $shown$
);
