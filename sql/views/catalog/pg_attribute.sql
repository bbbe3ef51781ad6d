-- Columns. Default values of columns that were added later are values, so they are not shown. A place in caches is the
-- same everywhere, and no column of PostgreSQL 18, which a dump of this view must be fit for.
SELECT kanon.mirror_catalog(
    'pg_attribute',
    $shown$
        JOIN kanon.visible_relations AS v ON v.oid = c.attrelid
    $shown$,
    $masks${
        "attmissingval": "NULL::text",
        "attcacheoff": "-1"
    }$masks$
);
