-- Whether the transaction may have written or removed rows of a relation or of what it consists of: it holds a lock that
-- writers take, until it ends or is rolled back to a savepoint before. Statistics would not do: queries keep them from
-- being counted, also for a statement around them.
-- $1 bigint
WITH RECURSIVE below (oid) AS (
    SELECT $1::bigint::oid
    UNION
    SELECT i.inhrelid FROM below JOIN pg_catalog.pg_inherits AS i ON i.inhparent = below.oid
)

SELECT EXISTS (
    SELECT FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'relation'
        AND l.pid = pg_catalog.pg_backend_pid()
        AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
        AND l.relation IN (SELECT below.oid FROM below)
        AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
) AS wrote
