-- Says whether the client's statement has run for longer than statement_timeout allows.
SELECT
    timeout.allowed > interval '0'
    AND pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp() > timeout.allowed AS passed
FROM (SELECT pg_catalog.current_setting('statement_timeout')::interval AS allowed) AS timeout
