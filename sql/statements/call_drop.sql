-- Drops a release through the server's own function.
-- $1 text
SELECT kanon_drop($1::text)::text AS done
