-- A table that two base relations of releases both read; NULL if there is none.
-- $1 bigint
-- $2 bigint
WITH RECURSIVE {% include "composition/reads.sql" %}

SELECT min(pg_catalog.format('%I.%I', n.nspname, c.relname)) AS relation
FROM reads AS one
INNER JOIN reads AS other ON other.oid = one.oid
INNER JOIN pg_catalog.pg_class AS c ON c.oid = one.oid AND c.relkind IN ('r', 'p', 'f', 'v', 'm')
INNER JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE one.relation = $1::bigint::oid AND other.relation = $2::bigint::oid
