-- Reads a row of each shard at most: whether the current role may, on all nodes that have one.
SELECT count(*) AS shards FROM (SELECT 1 AS one FROM {{ relation }} LIMIT 1) AS one
