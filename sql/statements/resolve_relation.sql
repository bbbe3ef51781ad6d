-- The relation that a name or regclass text stands for, NULL if there is none.
-- $1 text
SELECT pg_catalog.to_regclass($1::text)::oid::bigint AS oid
