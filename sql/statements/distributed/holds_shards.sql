-- Whether the coordinator of Citus holds shards itself.
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_dist_node AS n WHERE n.groupid = 0 AND n.shouldhaveshards
) AS holds_shards
