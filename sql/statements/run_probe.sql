-- Asks what the server's Python can see.
-- $1 text
SELECT pg_temp.kanon_probe($1) AS answer
