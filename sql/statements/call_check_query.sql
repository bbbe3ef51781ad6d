-- Checks a query without running it.
-- $1 text
SELECT accepted, findings::text AS findings, canonical_sql FROM kanon_check_query($1)
