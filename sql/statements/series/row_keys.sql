-- Columns that tell the rows of a table apart at every moment, those of the primary key first.
-- $1 bigint
SELECT pg_catalog.array_agg(a.attname::text ORDER BY g.place) AS columns
FROM pg_catalog.pg_index AS i
CROSS JOIN LATERAL pg_catalog.generate_series(0, i.indnkeyatts - 1) AS g (place)
LEFT JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = i.indrelid AND a.attnum = i.indkey[g.place] AND a.attnum > 0 AND a.attnotnull
WHERE i.indrelid = $1::bigint::oid
    AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indpred IS NULL
GROUP BY i.indexrelid, i.indisprimary
HAVING count(a.attnum) = count(*)
ORDER BY i.indisprimary DESC, i.indexrelid
LIMIT 1
