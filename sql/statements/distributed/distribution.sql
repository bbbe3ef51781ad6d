-- The column by whose hash Citus distributes the rows of a relation, and over how many shards; no row if it does not.
-- $1 text
SELECT
    pg_catalog.column_to_column_name(p.logicalrelid, p.partkey) AS column,
    (SELECT count(*) FROM pg_catalog.pg_dist_shard AS s WHERE s.logicalrelid = p.logicalrelid) AS shards
FROM pg_catalog.pg_dist_partition AS p
WHERE p.logicalrelid = pg_catalog.to_regclass($1) AND p.partmethod = 'h'
