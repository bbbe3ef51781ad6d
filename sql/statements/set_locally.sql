-- Sets a parameter until the end of the transaction; returns the value before.
-- $1 text
-- $2 text
SELECT before, pg_catalog.set_config($1::text, $2::text, true) AS after
FROM (SELECT pg_catalog.current_setting($1::text) AS before OFFSET 0) AS old
