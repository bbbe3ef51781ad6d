-- Columns whose statistics would run the code of others: those of ranges compute lengths by a function of the type.
-- $1 text
SELECT a.attname::text AS name
FROM pg_catalog.pg_attribute AS a INNER JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
WHERE a.attrelid = $1::text::regclass AND a.attnum > 0 AND NOT a.attisdropped
    AND coalesce(a.attstattarget, -1) <> 0
    -- made here, not by PostgreSQL
    AND t.oid >= 16384
    AND t.typanalyze IN (
        'pg_catalog.range_typanalyze(internal)'::regprocedure, 'pg_catalog.multirange_typanalyze(internal)'::regprocedure
    )
ORDER BY a.attnum
