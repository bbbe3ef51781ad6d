-- How many records of questions there are, and the database's number, which names their folder.
SELECT
    (SELECT count(*) FROM kanon.ledger) AS records,
    (SELECT d.oid::bigint FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) AS database
