-- Sets of columns of which no two rows can be equal: unique at every moment, never NULL, by the columns' own equality.
-- $1 bigint[]
SELECT i.indrelid::bigint AS relation, pg_catalog.array_agg(a.attname::text) AS columns
FROM pg_catalog.pg_index AS i
CROSS JOIN LATERAL pg_catalog.generate_series(0, i.indnkeyatts - 1) AS g (place)
INNER JOIN pg_catalog.pg_opclass AS o ON o.oid = i.indclass[g.place]
LEFT JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = i.indrelid AND a.attnum = i.indkey[g.place] AND a.attnum > 0 AND a.attnotnull
    AND a.attcollation = i.indcollation[g.place] AND o.opcdefault
WHERE i.indrelid = ANY ($1::bigint[]::oid[])
    AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indisready AND i.indpred IS NULL
GROUP BY i.indrelid, i.indexrelid
HAVING pg_catalog.count(a.attnum) = pg_catalog.count(*)
ORDER BY i.indrelid, i.indexrelid
