-- Comments on what is shown.
SELECT kanon.mirror_catalog(
    'pg_description',
    $shown$
        WHERE c.classoid <> 'pg_catalog.pg_class'::regclass OR EXISTS (SELECT FROM kanon.visible_relations
        AS v WHERE v.oid = c.objoid)
    $shown$
);
