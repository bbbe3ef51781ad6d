-- Levels below the top of the hierarchies of a release, in the order of its generalized columns.
-- $1 text
SELECT count(*) AS height
FROM kanon.release AS r
CROSS JOIN LATERAL pg_catalog.unnest(r.nodes) WITH ORDINALITY AS t (relation, place)
INNER JOIN pg_catalog.pg_attribute AS a
    ON a.attrelid = t.relation AND a.attnum > 0 AND NOT a.attisdropped AND a.attname LIKE E'level\\_%'
WHERE r.name = $1::text
GROUP BY t.place
ORDER BY t.place
