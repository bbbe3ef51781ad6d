-- Tables, for tools that join the catalogs with their statistics; there is no statistic in it.
SELECT kanon.mirror_catalog(
    'pg_stat_user_tables',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.relid
    $shown$,
    $masks${
        "relid": "c.relid",
        "schemaname": "c.schemaname",
        "relname": "c.relname",
        "*": "NULL"
    }$masks$
);
