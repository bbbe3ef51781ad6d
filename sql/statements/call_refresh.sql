-- Brings a release up to date through the server's own function.
-- $1 text
SELECT kanon_refresh($1::text)::text AS done
