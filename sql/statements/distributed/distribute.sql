-- Distributes a table over a number of shards of its own.
-- $1 text
-- $2 integer
SELECT pg_catalog.create_distributed_table(
    $1::text::regclass, 'kanon_place', colocate_with => 'none', shard_count => $2::integer
)::text AS done
