-- Which state of the database this is. Two moments with the same snapshot see the same rows, unless the
-- transaction itself wrote something (then it has a number of its own). After a crash, transactions whose commit was
-- lost may give their numbers to others: statistics begin anew then, and the server was started at another time.
SELECT
    pg_catalog.pg_current_snapshot()::text AS snapshot,
    pg_catalog.pg_current_xact_id_if_assigned() IS NOT NULL AS writes,
    pg_catalog.pg_is_in_recovery() AS is_copy,
    -- the same in all time zones
    extract(epoch FROM pg_catalog.pg_postmaster_start_time())::text
    || ' ' || extract(epoch FROM pg_catalog.pg_stat_get_bgwriter_stat_reset_time())::text AS epoch,
    pg_catalog.current_setting('TimeZone') AS zone,
    (SELECT d.oid::bigint FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) AS database
