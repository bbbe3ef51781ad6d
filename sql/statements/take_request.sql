-- The role that called the API function which is being served, no row if none was called in this transaction.
-- $1 text
WITH taken AS (
    DELETE FROM kanon.request
    WHERE transaction = pg_catalog.pg_current_xact_id()
    RETURNING number, operation, role
)

SELECT role::text AS role FROM taken WHERE operation = $1::text ORDER BY number DESC LIMIT 1
