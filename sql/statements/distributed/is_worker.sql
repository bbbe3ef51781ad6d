-- Whether this is a worker of Citus rather than its coordinator.
SELECT NOT pg_catalog.citus_is_coordinator() AS is_worker
