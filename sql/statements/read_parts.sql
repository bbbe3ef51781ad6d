-- The parts of divided row types behind a release, by row type and first row, each column one buffer of 64-bit
-- big-endian numbers.
SELECT
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(p.row_type), ''), '') AS keys,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(p.first_row), ''), '') AS first_rows,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(p.pattern), ''), '') AS patterns
FROM (SELECT s.* FROM {{ parts }} AS s ORDER BY s.row_type, s.first_row) AS p
