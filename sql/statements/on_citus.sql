-- Whether this database has Citus.
SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS on_citus
