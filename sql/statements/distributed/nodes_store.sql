-- Whether the nodes can store releases of a table, because it belongs to a superuser.
-- $1 bigint
SELECT kanon.nodes_store($1::bigint::oid::regclass) AS nodes_store
