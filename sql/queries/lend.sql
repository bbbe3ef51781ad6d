-- Lets the owner role read a base relation, if the caller may allow it.
-- $1 text
SELECT kanon.lend(pg_catalog.to_regclass($1::text))::text AS lent
