-- Whether the current transaction is read-only. A parallel worker, as debug_parallel_query would have one, does not
-- know; of the schema of temporary tables none may ask.
SELECT pg_catalog.current_setting('transaction_read_only') = 'on' AND pg_catalog.pg_my_temp_schema() IS NOT NULL AS read_only
