-- Whether later statements of this transaction see what others commit meanwhile.
SELECT pg_catalog.current_setting('transaction_isolation') IN ('read committed', 'read uncommitted') AS sees_changes
