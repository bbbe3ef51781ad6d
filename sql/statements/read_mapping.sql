-- The mapping behind a release, each column one buffer of 64-bit big-endian numbers; without prices if some are missing.
SELECT
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(m.row_type), ''), '') AS keys,
    coalesce(pg_catalog.string_agg(pg_catalog.int8send(m.pattern), ''), '') AS patterns,
    CASE WHEN count(m.price) = count(*) THEN coalesce(pg_catalog.string_agg(pg_catalog.int8send(m.price), ''), '') ELSE '' END
        AS prices
FROM {{ mapping }} AS m
