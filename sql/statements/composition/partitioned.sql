-- The table that a relation is a partition of, else the relation itself.
-- $1 bigint
SELECT coalesce(pg_catalog.pg_partition_root($1::bigint::oid), $1::bigint::oid)::oid::bigint AS relation
