-- The further tables of releases of linked tables.
CREATE OR REPLACE VIEW kanon.release_tables (
    release, -- Name of the release.
    view, -- The view that analysts read.
    base, -- The table; NULL if it was dropped.
    storage, -- The materialized view behind it, of the same name after each publication; NULL if it was dropped.
    numbers_known, -- Whether somebody could know how many rows a person has there, so that the numbers are a quasi-identifier.
    base_rows, -- Rows of the table when the release was published or refreshed.
    rows, -- Rows of the view then: as many as classes of k people share.
    key_columns, -- Columns of the view that tell its rows apart, all pseudonyms.
    foreign_keys -- Which columns refer to which columns of which other view of the release.
) AS
SELECT t.release, pg_catalog.to_regclass(pg_catalog.format('safe.%I', t.name)) AS view,
    CASE WHEN c.oid IS NOT NULL THEN t.relation END AS base, s.oid::regclass AS storage, t.numbers_known, t.base_rows, t.rows,
    t.key_columns, t.foreign_keys
FROM kanon.release_table AS t LEFT JOIN pg_catalog.pg_class AS c ON c.oid = t.relation::oid
LEFT JOIN pg_catalog.pg_class AS s ON s.oid = t.storage::oid;
COMMENT ON VIEW kanon.release_tables IS 'The further tables of releases of linked tables: where from, how many rows are shown, how they join.';
GRANT SELECT ON TABLE kanon.release_tables TO kanon_owner, kanon_curator;
