-- The database's number, which names the folder of its records.
SELECT d.oid::bigint AS database FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()
