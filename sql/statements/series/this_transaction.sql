-- The number of this transaction, whose own version it must not read.
SELECT pg_catalog.pg_current_xact_id()::text AS number
