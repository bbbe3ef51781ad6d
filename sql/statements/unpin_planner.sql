-- Gives settings the values that they had.
-- $1 text[]
-- $2 text[]
SELECT pg_catalog.count(pg_catalog.set_config(s.name, s.value, true)) AS changed
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS s (name, value)
