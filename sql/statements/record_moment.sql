-- Which database this is, and whether the server is a standby.
SELECT
    pg_catalog.pg_is_in_recovery() AS is_copy,
    (SELECT d.oid::bigint FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) AS database
