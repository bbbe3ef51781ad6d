-- How much space the versions take that are remembered of a release.
-- $1 text
SELECT
    count(*) AS versions,
    pg_catalog.pg_size_pretty(coalesce(sum(pg_catalog.pg_total_relation_size(m.classes)), 0)) AS size
FROM kanon.remembered AS m
WHERE m.release = $1::text
