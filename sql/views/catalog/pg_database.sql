-- The database that is served.
SELECT kanon.mirror_catalog(
    'pg_database',
    $shown$
        WHERE c.datname = pg_catalog.current_database()
    $shown$
);
