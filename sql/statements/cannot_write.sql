-- Whether the current transaction is read-only.
SELECT pg_catalog.current_setting('transaction_read_only') = 'on' AS read_only
