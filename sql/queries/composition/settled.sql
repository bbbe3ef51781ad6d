-- All transactions before this one have ended: later statements of this transaction see what they wrote.
SELECT pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint AS before
