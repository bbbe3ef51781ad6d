-- Whether the current role is kanon_owner and reads a table itself, on the nodes, because these can store releases of it. Citus lets
-- no transaction create shards beside others that it read as another role.
-- $1 bigint
SELECT CURRENT_USER = 'kanon_owner'
    AND pg_catalog.has_table_privilege($1::bigint::oid, 'SELECT')
    AND kanon.nodes_store($1::bigint::oid::regclass) AS owner_reads
