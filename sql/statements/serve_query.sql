-- Has the query of the current call served with the rights of the reading role, read-only: the setting comes
-- before the call, and ends with the subtransaction that the server's interface runs every statement in. A function's
-- own SET clause cannot do this since PostgreSQL 16.
SELECT kanon.serve_query()::text AS done
FROM pg_catalog.set_config('transaction_read_only', 'on', true)
