-- Who calls, and whether the call sees the present state of the catalog.
SELECT
    CURRENT_USER::text AS role,
    SESSION_USER::text AS login,
    pg_catalog.current_setting('transaction_isolation') = 'read committed' AS sees_present
