-- The database that is served. Columns that later versions do not have are read by their names: a dump of this view
-- must be fit for those versions.
SELECT kanon.mirror_catalog(
    'pg_database',
    $shown$
        WHERE c.datname = pg_catalog.current_database()
    $shown$,
    $masks${
        "datlastsysoid": "(pg_catalog.to_jsonb(c) ->> 'datlastsysoid')::oid",
        "daticulocale": "(pg_catalog.to_jsonb(c) ->> 'daticulocale') COLLATE \"C\""
    }$masks$
);
