-- The types of the cells that the generalized columns of a release publish, in their order.
-- $1 text
SELECT pg_catalog.format_type(a.atttypid, NULL) AS output
FROM kanon.release AS r
CROSS JOIN LATERAL pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
INNER JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = t.relation AND a.attname = 'level_0' AND NOT a.attisdropped
WHERE r.name = $1::text
ORDER BY t.place
